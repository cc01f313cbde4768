/**
 * `service plugins`: the channels that there are, and which of them are on.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { type Command, EXIT, type ExitCode, type Invocation } from "../command.ts";
import type { PluginsDeps } from "../plugins/deps.ts";

/** Runs the command. */
export async function runPlugins(invocation: Invocation, deps: PluginsDeps): Promise<ExitCode> {
  const { subcommand = "list", args: [name], options, globals: { json }, out } = invocation;
  const instanceId = options["instance"] as string | undefined;
  if (instanceId !== undefined && subcommand !== "enable" && subcommand !== "disable") {
    throw new ServiceError("usage", `service plugins ${subcommand} takes no --instance`, {
      param: "instance",
    });
  }
  const locale = options["locale"] as string | undefined;
  if (locale !== undefined && subcommand !== "info") {
    throw new ServiceError("usage", `service plugins ${subcommand} takes no --locale`, {
      param: "locale",
    });
  }
  switch (subcommand) {
    case "enable":
    case "disable": {
      const { switchChannel } = await import("../plugins/switch.ts");
      const enabled = subcommand === "enable";
      await switchChannel(out, deps, { name: name!, instanceId, enabled, json });
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

const plugins: Command = {
  description:
    "Channels connect the agent to where people write. Each is a package of its own; this shows them, " +
    "and switches them on and off in the configuration, which a running service takes up by itself. One " +
    "that is broken is `failed`, says why, and hurts no other. Nothing of a channel is loaded for that, but " +
    "when one is switched on its own check, which tries the settings with the permissions of the channel.",
  examples: [
    "service plugins list",
    "service plugins info email",
    "service plugins info telegram --locale de",
    "service plugins enable email",
    "service plugins enable api",
    "service plugins disable email --instance work",
  ],
  subcommands: [
    { name: "list", summary: "Show every channel and its state (also without a subcommand)" },
    {
      name: "enable",
      args: "NAME",
      summary: "Switch one on, and try its settings; api: the HTTP API",
    },
    { name: "disable", args: "NAME", summary: "Switch one off; api: the HTTP API" },
    { name: "info", args: "NAME", summary: "Show what can be set of one, and what it reaches" },
  ],
  options: [
    { name: "instance", value: "ID", summary: "enable, disable: one account of it alone" },
    {
      name: "locale",
      value: "LANGUAGE",
      summary: "info: labels and steps in it, such as de (that of LC_ALL or LANG)",
    },
  ],
  async run(invocation) {
    const { pluginsDeps } = await import("../plugins/deps.ts");
    return await runPlugins(invocation, await pluginsDeps(invocation.globals, invocation.out));
  },
};

export default plugins;
