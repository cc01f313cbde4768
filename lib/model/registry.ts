/**
 * The models of a configuration: which is used and why, and how others are reached by name.
 *
 * @module
 */

import type { Config } from "../config/schema.ts";
import { ServiceError } from "../base/errors.ts";
import { checkModelName, type Choice, chooseModel, whyNot } from "./choose_model.ts";
import { withFallbacks } from "./fallback.ts";
import { importProvider, loadWire } from "./load_wire.ts";
import { createOfflineModel, OFFLINE } from "./offline.ts";
import type { Model } from "./port.ts";
import { createProviderModel } from "./provider_model.ts";
import { type ProviderSpec, readProviders, splitModelName } from "./provider_spec.ts";
import { RETRY_POLICY, type RetryPolicy, sleep } from "./retry.ts";
import type { ModelSettings } from "./wire.ts";

/** A line of `service models`. */
export interface ModelListing {
  /** `<provider>/<id>`, `<provider>` when its model is not known, or `offline`. */
  name: string;
  provider: string;
  preset?: string;
  /** It answers unless a turn asks for another. */
  used: boolean;
  /** Why it is used, or why it is not. */
  reason: string;
}

/** The models of a configuration. */
export interface ModelRegistry {
  /** The one in force, its fallbacks behind it. */
  readonly default: Model;
  /** Why, in words for people. */
  readonly reason: string;
  /**
   * A preset's model with the preset's settings and the fallbacks, or any `<provider>/<id>` without
   * fallbacks, or `offline`. A preset wins over a model of its name. Throws `model_not_found`,
   * naming what there is.
   */
  pick(nameOrPreset: string): Model;
  /** What is configured: the one in force first, then fallbacks, presets, providers, `offline`. */
  list(): ModelListing[];
  /** Imports the package of the default model, so that the first turn does not wait for it. */
  preload(): Promise<void>;
}

/** What {@linkcode resolveModels} takes; all but the configuration has a default for the program. */
export interface RegistryDeps {
  config: Pick<Config, "agent" | "providers">;
  fetch?: typeof fetch;
  /** Milliseconds since 1970. */
  now?: () => number;
  /** From 0 to below 1. */
  random?: () => number;
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  retry?: RetryPolicy;
}

/** What is configured of providers, by name. */
type Providers = ReadonlyMap<string, ProviderSpec>;

/**
 * Reads the configuration. Throws `config_invalid` when what it names as preset, model or fallback
 * does not exist. Imports and connects nothing.
 */
export function resolveModels(deps: RegistryDeps): ModelRegistry {
  const { config } = deps;
  const { agent } = config;
  const choice = chooseModel(config);
  for (const [index, name] of agent.fallbacks.entries()) {
    checkModelName(config, name, `agent.fallbacks.${index}`);
  }
  const providers: Providers = new Map(readProviders(config).map((spec) => [spec.name, spec]));
  const made = new Map<string, Model>();
  const make = modelMaker(deps, providers);
  const fallbackModels = agent.fallbacks.map((name) => make(name, agent));
  const main = choice.preset === undefined
    ? guarded(make(choice.name, agent))
    : pickPreset(choice.preset)!;

  function guarded(model: Model): Model {
    return withFallbacks(model, fallbackModels.filter(({ name }) => name !== model.name));
  }

  function pickPreset(name: string): Model | undefined {
    if (!Object.hasOwn(agent.presets, name)) return undefined;
    const preset = agent.presets[name]!;
    checkModelName(config, preset.model, `agent.presets.${name}.model`);
    return guarded(make(preset.model, {
      temperature: preset.temperature ?? agent.temperature,
      maxOutputTokens: preset.maxOutputTokens ?? agent.maxOutputTokens,
    }));
  }

  function pickByName(name: string): Model {
    if (name === main.name) return main;
    const parts = splitModelName(name);
    const spec = parts && providers.get(parts.provider);
    if (name === OFFLINE || (spec !== undefined && spec.missing === undefined)) {
      return make(name, agent);
    }
    const missing = spec === undefined ? "" : ` (${spec.missing})`;
    const message = `There is no model "${name}"${missing}; available: ${
      usable(config, providers)
    }`;
    throw new ServiceError("model_not_found", message, { param: "model" });
  }

  return {
    default: main,
    reason: choice.reason,
    pick(nameOrPreset) {
      const known = made.get(nameOrPreset);
      if (known !== undefined) return known;
      const model = pickPreset(nameOrPreset) ?? pickByName(nameOrPreset);
      // Names of models come from callers, so what is kept of them is bounded.
      if (made.size < 100) made.set(nameOrPreset, model);
      return model;
    },
    list: () => listModels(config, choice, providers),
    async preload() {
      const spec = providers.get(providerOf(choice.name));
      if (spec !== undefined) await importProvider(spec.type);
    },
  };
}

/** What makes a model of a name whose provider is there. */
function modelMaker(
  { config: { agent: { contextTokens } }, ...deps }: RegistryDeps,
  providers: Providers,
): (name: string, settings: ModelSettings) => Model {
  const retry = {
    policy: deps.retry ?? RETRY_POLICY,
    random: deps.random ?? Math.random,
    sleep: deps.sleep ?? sleep,
  };
  return (name, { temperature, maxOutputTokens }) => {
    if (name === OFFLINE) return createOfflineModel({ contextTokens });
    const { provider, id } = splitModelName(name)!;
    return createProviderModel({
      spec: providers.get(provider)!,
      id,
      settings: { temperature, maxOutputTokens },
      contextTokens,
      retry,
      fetch: deps.fetch ?? fetch,
      now: deps.now ?? Date.now,
      load: loadWire,
    });
  };
}

/** The names that can be picked, for people. */
function usable({ agent }: RegistryDeps["config"], providers: Providers): string {
  const specs = [...providers.values()].filter(({ missing }) => missing === undefined);
  return [
    ...Object.keys(agent.presets).map((name) => `the preset ${name}`),
    ...specs.map(({ name }) => `${name}/<model id>`),
    OFFLINE,
  ].join(", ");
}

function listModels(
  { agent }: RegistryDeps["config"],
  choice: Choice,
  providers: Providers,
): ModelListing[] {
  const listings: ModelListing[] = [];
  const add = (name: string, reason: string, preset?: string) =>
    listings.push({
      name,
      provider: providerOf(name),
      ...preset !== undefined && { preset },
      used: listings.length === 0,
      reason,
    });
  add(choice.name, choice.reason, choice.preset);
  for (const [index, name] of agent.fallbacks.entries()) {
    add(name, `fallback ${index + 1}: asked when the model before it cannot answer`);
  }
  for (const [name, { model }] of Object.entries(agent.presets)) {
    if (name !== choice.preset) add(model, `preset "${name}": used when it is asked for`, name);
  }
  for (const spec of providers.values()) {
    const name = spec.model === "" ? spec.name : `${spec.name}/${spec.model}`;
    if (listings.some((listing) => listing.name === name)) continue;
    add(name, whyNot(spec) ?? "its provider is configured; used when it is asked for");
  }
  if (choice.name !== OFFLINE) add(OFFLINE, "built in; used when it is asked for");
  return listings;
}

function providerOf(name: string): string {
  return splitModelName(name)?.provider ?? name;
}
