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

/** Runs the command. */
export async function runChannels(invocation: Invocation, deps: ChannelsDeps): Promise<ExitCode> {
  const { subcommand = "status", args, options, globals, out } = invocation;
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
      return await login(out, deps, asked, globals).catch((error) => {
        const isIncomplete = error instanceof ServiceError && error.code === "config_invalid";
        if (isIncomplete) out.note(`See what it needs with: service plugins info ${asked.name}`);
        throw error;
      });
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
    "Shows the state of channels in the running gateway, sends a test message, and logs in to " +
    "channels that need it. To see which channels exist and are enabled: service plugins.",
  examples: [
    "service channels status",
    "service channels status email --json",
    'service channels send email ann@example.com "Does this arrive?"',
    "service channels login NAME --force",
    "service channels missed telegram --json",
    "service channels missed --answer 17",
  ],
  options: [],
  defaultSubcommand: "status",
  subcommands: [
    {
      name: "status",
      args: "[NAME]",
      summary: "Show the state of channels and their undelivered messages",
    },
    {
      name: "send",
      args: "NAME CHAT TEXT",
      summary: "Send a message and report its delivery",
      options: [{
        name: "wait",
        value: "SECONDS",
        summary: `How long to wait for the delivery (${DEFAULT_WAIT_S})`,
      }],
    },
    {
      name: "missed",
      args: "[NAME]",
      summary: "List messages that arrived too late to be answered (channels.catchUpS)",
      options: [
        { name: "clear", summary: "Remove them from the list" },
        { name: "answer", value: "MESSAGE", summary: "Answer this one after all" },
      ],
    },
    {
      name: "login",
      args: "NAME",
      summary: "Log in to a channel; fails if the login doesn't succeed",
      options: [
        { name: "force", summary: "Log in again even if logged in" },
        { name: "instance", value: "ID", summary: "One account of the channel" },
      ],
    },
  ],
  run: (invocation) => runChannels(invocation, processChannelsDeps),
};

export default channels;
