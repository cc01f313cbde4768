/**
 * `service models set`.
 *
 * @module
 */

import { configError } from "../../lib/config/problem.ts";
import { valueAt } from "../../lib/base/key_path.ts";
import { checkModelName } from "../../lib/model/choose_model.ts";
import { examine } from "../../lib/settings/examine.ts";
import { readConfig } from "../../lib/settings/load.ts";
import type { Output } from "../output.ts";
import type { ConfigDeps } from "./deps.ts";
import { set } from "./set.ts";

/**
 * Makes a preset or a model the one in force, with one change of the configuration. Throws
 * `config_invalid`, naming what there is, for a model of no provider that can be asked.
 */
export async function setModel(
  { name, json, out }: { name: string; json: boolean; out: Output },
  deps: ConfigDeps,
): Promise<void> {
  const { file, text } = await readConfig(deps);
  const { config, canonical, problems } = examine({ ...deps, text });
  const unreadable = problems.filter(({ kind }) => kind !== "reference");
  if (config === undefined || unreadable.length > 0) {
    throw configError(`Cannot load ${file}`, unreadable);
  }
  const { preset, presets } = config.agent;
  if (Object.hasOwn(presets, name)) {
    return await set({ key: "agent.preset", value: name, unset: false, json, out }, deps);
  }
  checkModelName(config, name, "agent.model");
  if (preset === "") {
    return await set({ key: "agent.model", value: name, unset: false, json, out }, deps);
  }
  // The preset would win over the model: both change at once.
  const { preset: _, ...written } = valueAt(canonical, ["agent"]) as Record<string, unknown>;
  const value = JSON.stringify({ ...written, model: name });
  await set({ key: "agent", value, unset: false, json, out }, deps);
}
