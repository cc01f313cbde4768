/**
 * `service channels`: how channels are in the service that runs, and trying them.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { type ChannelsDeps, processChannelsDeps } from "../channels/deps.ts";
import type { Command, ExitCode, Invocation } from "../command.ts";

const DEFAULT_WAIT_S = 30;
const MAX_WAIT_S = 600;

/** Which subcommand an option is for. */
const OPTION_OF: Readonly<Record<string, string>> = {
  force: "login",
  instance: "login",
  clear: "missed",
  answer: "missed",
  wait: "send",
};

/** Runs the command. */
export async function runChannels(invocation: Invocation, deps: ChannelsDeps): Promise<ExitCode> {
  const { subcommand = "status", args, options, globals, out } = invocation;
  for (const [name, owner] of Object.entries(OPTION_OF)) {
    if (options[name] !== undefined && owner !== subcommand) {
      throw new ServiceError("usage", `Only service channels ${owner} takes --${name}`, {
        param: name,
      });
    }
  }
  switch (subcommand) {
    case "send": {
      const { send } = await import("../channels/send.ts");
      const [runtimeName, chatId, text] = args as [string, string, string];
      const waitMs = seconds(options["wait"] as string | undefined) * 1_000;
      return await send(out, deps, { runtimeName, chatId, text, waitMs }, globals);
    }
    case "login": {
      const { login } = await import("../channels/login.ts");
      const asked = {
        name: args[0]!,
        instanceId: options["instance"] as string | undefined,
        force: options["force"] === true,
      };
      return await login(out, deps, asked, globals);
    }
    case "missed": {
      const { answerMissed, clearMissed, listMissed } = await import("../channels/missed.ts");
      const answer = options["answer"] as string | undefined;
      if (answer === undefined) {
        const run = options["clear"] === true ? clearMissed : listMissed;
        return await run(out, deps, args[0], globals);
      }
      if (args[0] !== undefined || options["clear"] === true) {
        throw new ServiceError("usage", "--answer takes no name beside it, and no --clear", {
          param: "answer",
        });
      }
      return await answerMissed(out, deps, messageNumber(answer), globals);
    }
    default: {
      const { status } = await import("../channels/status.ts");
      return await status(out, deps, args[0], globals);
    }
  }
}

function messageNumber(typed: string): number {
  const value = /^\d{1,15}$/.test(typed) ? Number(typed) : 0;
  if (value >= 1) return value;
  throw new ServiceError(
    "usage",
    `Option --answer is ${
      JSON.stringify(typed)
    }; expected a number that service channels missed shows`,
    { param: "answer" },
  );
}

function seconds(typed: string | undefined): number {
  if (typed === undefined) return DEFAULT_WAIT_S;
  const value = /^\d{1,6}$/.test(typed) ? Number(typed) : NaN;
  if (value <= MAX_WAIT_S) return value;
  throw new ServiceError(
    "usage",
    `Option --wait is ${JSON.stringify(typed)}; expected whole seconds from 0 to ${MAX_WAIT_S}`,
    { param: "wait" },
  );
}

const channels: Command = {
  description:
    "Shows how channels are in the service that runs, tries one with a message of your own, and logs one " +
    "in that wants that. Which channels there are, and which are on: service plugins.",
  examples: [
    "service channels status",
    "service channels status email --json",
    'service channels send email ann@example.com "Does this arrive?"',
    "service channels login NAME --force",
    "service channels missed telegram --json",
    "service channels missed --answer 17",
  ],
  subcommands: [
    {
      name: "status",
      args: "[NAME]",
      summary: "Show how each is, and what waits to be delivered (also without a subcommand)",
    },
    { name: "send", args: "NAME CHAT TEXT", summary: "Send a message, and say what became of it" },
    {
      name: "missed",
      args: "[NAME]",
      summary: "Show what came too late to be answered (channels.catchUpS)",
    },
    { name: "login", args: "NAME", summary: "Log a channel in; fails when it is not logged in" },
  ],
  options: [
    { name: "force", summary: "login: even if it is logged in already" },
    { name: "instance", value: "ID", summary: "login: one account of it" },
    { name: "clear", summary: "missed: list them no longer" },
    { name: "answer", value: "MESSAGE", summary: "missed: answer this one after all" },
    {
      name: "wait",
      value: "SECONDS",
      summary: `send: how long to wait for the delivery (${DEFAULT_WAIT_S})`,
    },
  ],
  run: (invocation) => runChannels(invocation, processChannelsDeps),
};

export default channels;
