/**
 * `service config`: read, change and check the configuration.
 *
 * @module
 */

import { SETTINGS } from "../../lib/operations/settings.ts";
import { type Command, EXIT, type ExitCode, type Invocation } from "../command.ts";
import type { ConfigDeps } from "../config/deps.ts";
import { operationSubcommand } from "../operator/operation_subcommand.ts";

/** Runs the command. */
export async function runConfig(invocation: Invocation, deps: ConfigDeps): Promise<ExitCode> {
  const { subcommand = "get", args, options, globals, out } = invocation;
  switch (subcommand) {
    case "path": {
      const { printPath } = await import("../config/path.ts");
      await printPath(out, deps, globals.json);
      return EXIT.done;
    }
    case "schema": {
      const { configJsonSchema, configJsonSchemaText } = await import(
        "../../lib/config/json_schema.ts"
      );
      if (globals.json) out.json(configJsonSchema());
      else out.write(configJsonSchemaText());
      return EXIT.done;
    }
    case "check": {
      const { check } = await import("../config/check.ts");
      return await check(out, deps, globals.json);
    }
    case "set":
    case "unset": {
      const { set } = await import("../config/set.ts");
      const [key, value] = args as [string, string | undefined];
      const unset = subcommand === "unset" || options["unset"] === true;
      await set({ key, value, unset, json: globals.json, out }, deps);
      return EXIT.done;
    }
    default: {
      const { get } = await import("../config/get.ts");
      await get(out, deps, { key: args[0], json: globals.json });
      return EXIT.done;
    }
  }
}

const config: Command = {
  description:
    "Reads, changes and checks the configuration file. KEY is a path such as agent.maxSteps, " +
    'agent.fallbacks[0] or providers.local.headers["X-Team"], in camelCase or snake_case. VALUE is ' +
    "text if the key holds text, otherwise JSON; - reads it from standard input. Secrets are never " +
    "printed. ${NAME} refers to an environment variable and is printed as written.",
  examples: [
    "service config get agent.model",
    "service config set agent.model openai/gpt-6.1-terra",
    `service config set agent.fallbacks '["anthropic/claude-sonnet-5-5"]'`,
    "service config set providers.openai.apiKey '${OPENAI_API_KEY}'",
    "service config unset agent.temperature",
    "service config check",
  ],
  options: [],
  defaultSubcommand: "get",
  subcommands: [
    { name: "get", args: "[KEY]", summary: "Print the current configuration, or one key of it" },
    {
      name: "set",
      args: "KEY [VALUE]",
      summary: "Change one key; an invalid value changes nothing",
      options: [{ name: "unset", summary: "Remove the key, so that its default applies" }],
    },
    { name: "unset", args: "KEY", summary: "Remove one key, so that its default applies" },
    { name: "check", summary: "List every problem, and what a change would need" },
    { name: "path", summary: "Print the path of the file" },
    operationSubcommand(SETTINGS["settings.schema"]),
  ],
  async run(invocation) {
    const { configDeps } = await import("../config/deps.ts");
    return await runConfig(invocation, await configDeps(invocation.globals));
  },
};

export default config;
