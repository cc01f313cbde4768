/**
 * The models of a configuration: which is used and why, and how others are reached by name.
 *
 * @module
 */

import type { Config } from "../config/schema.ts";
import { ServiceError } from "../base/errors.ts";
import { checkModelName, chooseModel, whyNot } from "./choose_model.ts";
import { withFallbacks } from "./fallback.ts";
import { importProvider, loadLanguageModel } from "./load_language_model.ts";
import { createOfflineModel, OFFLINE } from "./offline.ts";
import type { Model } from "./port.ts";
import { createProviderModel, type ModelSettings } from "./provider_model.ts";
import { readProviders, splitModelName } from "./provider_spec.ts";
import { RETRY_POLICY, type RetryPolicy, sleep } from "./retry.ts";

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
  const providers = new Map(readProviders(config).map((spec) => [spec.name, spec]));
  const made = new Map<string, Model>();
  const retry = {
    policy: deps.retry ?? RETRY_POLICY,
    random: deps.random ?? Math.random,
    sleep: deps.sleep ?? sleep,
  };
  const fallbackModels = agent.fallbacks.map((name) => make(name, agent));
  const main = choice.preset === undefined
    ? guarded(make(choice.name, agent))
    : pickPreset(choice.preset)!;

  function make(name: string, settings: ModelSettings): Model {
    const { contextTokens } = agent;
    if (name === OFFLINE) return createOfflineModel({ contextTokens });
    const { provider, id } = splitModelName(name)!;
    return createProviderModel({
      spec: providers.get(provider)!,
      id,
      settings: { temperature: settings.temperature, maxOutputTokens: settings.maxOutputTokens },
      contextTokens,
      retry,
      fetch: deps.fetch ?? fetch,
      now: deps.now ?? Date.now,
      load: loadLanguageModel,
    });
  }

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

  function pick(nameOrPreset: string): Model {
    if (nameOrPreset === main.name && !Object.hasOwn(agent.presets, nameOrPreset)) return main;
    const known = made.get(nameOrPreset);
    if (known !== undefined) return known;
    const model = pickPreset(nameOrPreset) ?? pickByName(nameOrPreset);
    // Names of models come from callers, so what is kept of them is bounded.
    if (made.size < 100) made.set(nameOrPreset, model);
    return model;
  }

  function pickByName(name: string): Model {
    const provider = splitModelName(name)?.provider;
    const spec = provider === undefined ? undefined : providers.get(provider);
    if (name !== OFFLINE && (spec === undefined || spec.missing !== undefined)) {
      const missing = spec?.missing === undefined ? "" : ` (${spec.missing})`;
      throw new ServiceError(
        "model_not_found",
        `There is no model "${name}"${missing}; there are ${whatThereIs()}`,
        { param: "model" },
      );
    }
    return make(name, agent);
  }

  function whatThereIs(): string {
    const usable = [...providers.values()].filter(({ missing }) => missing === undefined);
    return [
      ...Object.keys(agent.presets).map((name) => `the preset ${name}`),
      ...usable.map(({ name }) => `${name}/<model id>`),
      OFFLINE,
    ].join(", ");
  }

  function list(): ModelListing[] {
    const listings: ModelListing[] = [{
      name: choice.name,
      provider: providerOf(choice.name),
      ...(choice.preset !== undefined && { preset: choice.preset }),
      used: true,
      reason: choice.reason,
    }];
    const add = (name: string, reason: string, preset?: string) =>
      listings.push({
        name,
        provider: providerOf(name),
        ...(preset !== undefined && { preset }),
        used: false,
        reason,
      });
    for (const [index, name] of agent.fallbacks.entries()) {
      add(name, `fallback ${index + 1}: asked when the model before it cannot answer`);
    }
    for (const [name, { model }] of Object.entries(agent.presets)) {
      if (name !== choice.preset) add(model, `preset "${name}": used when it is asked for`, name);
    }
    for (const spec of providers.values()) {
      const reason = whyNot(spec);
      const name = spec.model === "" ? spec.name : `${spec.name}/${spec.model}`;
      if (listings.some((listing) => listing.name === name)) continue;
      if (reason === undefined) add(name, "its provider is configured; used when it is asked for");
      else add(name, reason);
    }
    if (choice.name !== OFFLINE) add(OFFLINE, "built in; used when it is asked for");
    return listings;
  }

  return {
    default: main,
    reason: choice.reason,
    pick,
    list,
    async preload() {
      const spec = providers.get(providerOf(choice.name));
      if (spec !== undefined) await importProvider(spec.type);
    },
  };
}

function providerOf(name: string): string {
  return splitModelName(name)?.provider ?? name;
}
