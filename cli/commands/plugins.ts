/**
 * `service plugins`: the channels that there are, and which of them are on.
 *
 * @module
 */

import { CHANNELS } from "../../lib/operations/channels.ts";
import { type Command, EXIT, type ExitCode, type Invocation, type OptionSpec } from "../command.ts";
import { operationSubcommand } from "../operator/operation_subcommand.ts";
import type { PluginsDeps } from "../plugins/deps.ts";

/** Runs the command. */
export async function runPlugins(invocation: Invocation, deps: PluginsDeps): Promise<ExitCode> {
  const { subcommand = "list", args: [name], options, globals: { json }, out } = invocation;
  const instanceId = options["instance"] as string | undefined;
  const locale = options["locale"] as string | undefined;
  switch (subcommand) {
    case "enable":
    case "disable": {
      const { switchChannel } = await import("../plugins/switch.ts");
      const enabled = subcommand === "enable";
      const force = options["force"] === true;
      await switchChannel(out, deps, { name: name!, instanceId, enabled, force, json });
      return EXIT.done;
    }
    case "info": {
      const { info } = await import("../plugins/info.ts");
      await info(out, deps, { name: name!, json, locale });
      return EXIT.done;
    }
    default: {
      const { list } = await import("../plugins/list.ts");
      await list(out, deps, json);
      return EXIT.done;
    }
  }
}

const INSTANCE: OptionSpec = {
  name: "instance",
  value: "ID",
  summary: "One account of the channel alone",
};

const plugins: Command = {
  description:
    "Channels connect the agent to chat platforms. Each is a package of its own. This lists them and " +
    "enables or disables them in the configuration; a running gateway applies that at once. A broken " +
    "channel is shown as failed with the reason, and affects no other. Enabling a channel first " +
    "checks its settings, with the permissions of that channel. If the check fails, nothing changes " +
    "and the command exits with 1.",
  examples: [
    "service plugins list",
    "service plugins info email",
    "service plugins info telegram --locale de",
    "service plugins enable email",
    "service plugins enable api",
    "service plugins disable email --instance work",
  ],
  options: [],
  defaultSubcommand: "list",
  subcommands: [
    operationSubcommand(CHANNELS["channels.list"], { without: ["locale"] }),
    {
      name: "enable",
      args: "NAME",
      summary: "Check the settings of a channel and enable it; api is the HTTP API",
      options: [
        INSTANCE,
        { name: "force", summary: "Enable it even if it doesn't work or can't be checked now" },
      ],
    },
    {
      name: "disable",
      args: "NAME",
      summary: "Disable a channel; api is the HTTP API",
      options: [INSTANCE],
    },
    {
      name: "info",
      args: "NAME",
      summary: "Show the settings of a channel and what it connects to",
      options: [{
        name: "locale",
        value: "LANGUAGE",
        summary: "Language of labels and steps, such as de (LC_ALL or LANG)",
      }],
    },
  ],
  async run(invocation) {
    const { pluginsDeps } = await import("../plugins/deps.ts");
    return await runPlugins(invocation, await pluginsDeps(invocation.globals, invocation.out));
  },
};

export default plugins;
