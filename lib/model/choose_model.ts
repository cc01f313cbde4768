/**
 * Which model is used, and why. Pure.
 *
 * @module
 */

import type { Config } from "../config/schema.ts";
import { ServiceError } from "../base/errors.ts";
import { OFFLINE } from "./offline.ts";
import { type ProviderSpec, readProviders, splitModelName } from "./provider_spec.ts";

/** The model in force. */
export interface Choice {
  /** `<provider>/<id>`, or `offline`. */
  name: string;
  /** Preset that named it. */
  preset?: string;
  /** For people, such as `agent.model`. */
  reason: string;
}

/**
 * The preset in force, else `agent.model`, else the first provider that can be asked and whose model
 * is known, else `offline`. Throws `config_invalid` for a preset or provider that does not exist or
 * cannot be asked.
 */
export function chooseModel(config: Pick<Config, "agent" | "providers">): Choice {
  const { preset, presets, model } = config.agent;
  if (preset !== "") {
    const chosen = Object.hasOwn(presets, preset) ? presets[preset] : undefined;
    if (chosen === undefined) {
      throw invalid("agent.preset", `"${preset}" is no preset; ${known(Object.keys(presets))}`);
    }
    checkModelName(config, chosen.model, `agent.presets.${preset}.model`);
    return { name: chosen.model, preset, reason: `agent.preset is "${preset}"` };
  }
  if (model !== "") {
    checkModelName(config, model, "agent.model");
    return { name: model, reason: "agent.model names it" };
  }
  const providers = readProviders(config);
  const first = providers.find((spec) => whyNot(spec) === undefined);
  if (first !== undefined) {
    return {
      name: `${first.name}/${first.model}`,
      reason: `agent.model is not set, and ${first.name} is the first provider that can be asked`,
    };
  }
  const hints = providers.map((spec) => whyNot(spec)).join("; ");
  return {
    name: OFFLINE,
    reason: providers.length === 0
      ? "agent.model is not set, and no provider is configured"
      : `agent.model is not set, and no provider can be asked: ${hints}`,
  };
}

/** Why a provider cannot be chosen by itself; undefined when it can. */
export function whyNot(spec: ProviderSpec): string | undefined {
  if (spec.missing !== undefined) return spec.missing;
  return spec.model === "" ? `providers.${spec.name}.model is not set` : undefined;
}

/** Throws `config_invalid`, naming `param`, unless the name leads to a provider that can be asked. */
export function checkModelName(
  config: Pick<Config, "providers">,
  name: string,
  param: string,
): void {
  if (name === OFFLINE) return;
  const parts = splitModelName(name);
  if (parts === undefined) {
    throw invalid(param, `"${name}" is neither <provider>/<model id> nor ${OFFLINE}`);
  }
  const providers = readProviders(config);
  const spec = providers.find((one) => one.name === parts.provider);
  if (spec === undefined) {
    const names = known(providers.map((one) => one.name), "providers");
    throw invalid(param, `"${name}" names the provider "${parts.provider}"; ${names}`);
  }
  if (spec.missing !== undefined) {
    throw invalid(param, `"${name}" cannot be asked: ${spec.missing}`);
  }
}

function known(names: readonly string[], what = "presets"): string {
  return names.length === 0
    ? `there are no ${what}${what === "providers" ? "; add one with: service onboard" : ""}`
    : `the ${what} are ${names.map((name) => `"${name}"`).join(", ")}`;
}

function invalid(param: string, message: string): ServiceError {
  return new ServiceError("config_invalid", `${param}: ${message}`, { param });
}
