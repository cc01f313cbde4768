/**
 * `service channels`: how channels are in the service that runs, and trying them.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { CHANNEL_STATUS } from "../../lib/operations/channel_status.ts";
import { type ChannelsDeps, processChannelsDeps } from "../channels/deps.ts";
import { missed, MISSED_COMMAND } from "../channels/missed.ts";
import { send, SEND_COMMAND } from "../channels/send.ts";
import { verify, VERIFY_COMMAND } from "../channels/verify.ts";
import type { Command, ExitCode, Invocation } from "../command.ts";
import { PAIRING_COMMANDS } from "../channels/pairings.ts";
import { runSubcommand } from "../operator/ask_subcommand.ts";
import { asksHere } from "../operator/operate_here.ts";
import { operatorDeps } from "../operator/with_state.ts";
import { operationSubcommand } from "../operator/operation_subcommand.ts";

/** Runs the command. */
export async function runChannels(invocation: Invocation, deps: ChannelsDeps): Promise<ExitCode> {
  const { subcommand = "status", args, options, globals, out } = invocation;
  switch (subcommand) {
    case "send":
      return await send(invocation, deps);
    case "missed":
      return await missed(invocation, deps);
    case "verify":
      return await verify(invocation, deps);
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
    case "pair":
    case "pairings":
    case "dismiss":
      return await runSubcommand(PAIRING_COMMANDS, invocation, asksHere(operatorDeps(globals)));
    default: {
      const { status } = await import("../channels/status.ts");
      return await status(invocation, deps);
    }
  }
}

const channels: Command = {
  description:
    "Shows the state of channels in the running gateway, sends a test message, logs in to channels " +
    "that need it, verifies sessions of encrypted ones, and lets strangers write who were given a code. To see which channels exist and are enabled: service plugins.",
  examples: [
    "service channels status",
    "service channels status email --json",
    'service channels send email ann@example.com "Does this arrive?"',
    "service channels login signal",
    "service channels login NAME --force",
    "service channels missed telegram --json",
    "service channels missed --answer 17",
    "service channels verify matrix",
    "service channels pair k7mp2xwd",
    "service channels dismiss k7mp2xwd",
  ],
  options: [],
  defaultSubcommand: "status",
  subcommands: [
    { ...operationSubcommand(CHANNEL_STATUS["channels.status"]), args: "[NAME]" },
    operationSubcommand(SEND_COMMAND),
    operationSubcommand(MISSED_COMMAND),
    operationSubcommand(VERIFY_COMMAND),
    ...PAIRING_COMMANDS.map(({ spec }) => spec),
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
