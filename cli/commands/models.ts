/**
 * `service models`: what is configured, which model is used, and why.
 *
 * @module
 */

import { MODELS, modelsToWire } from "../../lib/operations/models.ts";
import type { OperationResult } from "../../lib/operations/operations.ts";
import { type Command, EXIT } from "../command.ts";
import { operationSubcommand } from "../operator/operation_subcommand.ts";
import type { Output } from "../output.ts";
import { printTable } from "../table.ts";

/** Prints the models, the one in force first and marked. */
export function printModels(
  out: Output,
  answer: OperationResult<"models.list">,
  json: boolean,
): void {
  if (json) out.json(answer);
  else {
    printTable(
      out,
      ["", "MODEL", "PRESET", "WHY"],
      answer.models.map(({ name, preset, used, reason }) => [
        used ? "*" : "",
        name,
        preset ?? "",
        reason,
      ]),
    );
  }
}

const models: Command = {
  description:
    "Lists every configured model with its preset, marks the one in use, and says why it was chosen " +
    "or why another can't be used. Contacts no provider; service doctor does. set chooses the one " +
    "to use.",
  examples: [
    "service models",
    "service models --json",
    "service models set openai/gpt-6.1-terra",
    "service models set offline",
  ],
  options: [],
  defaultSubcommand: "list",
  subcommands: [
    operationSubcommand(MODELS["models.list"]),
    { name: "set", args: "NAME", summary: "Use a model, as PROVIDER/MODEL, or a preset" },
  ],
  async run({ subcommand, args, globals, out }) {
    if (subcommand === "set") {
      const [{ setModel }, { configDeps }] = await Promise.all([
        import("../config/set_model.ts"),
        import("../config/deps.ts"),
      ]);
      await setModel({ name: args[0]!, json: globals.json, out }, await configDeps(globals));
      return EXIT.done;
    }
    const [{ ownOptions }, { loadConfig }, { resolveModels }, { withoutSecrets }] = await Promise
      .all([
        import("../open_service.ts"),
        import("../../lib/settings/load.ts"),
        import("../../lib/model/registry.ts"),
        import("../secrets/without_secrets.ts"),
      ]);
    const own = ownOptions(globals);
    const { config } = await loadConfig({ ...own, keepLastGood: false });
    const presets = () => Object.keys(config.agent.presets);
    const answer = modelsToWire({
      models: resolveModels({ config }),
      presets,
      prices: () => config.prices,
    });
    printModels(out, withoutSecrets(answer, own), globals.json);
    return EXIT.done;
  },
};

export default models;
