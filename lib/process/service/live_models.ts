/**
 * The models of a running service, which follow the configuration: a turn that begins takes what is in
 * force, one that runs keeps what it began with (spec 5, W12).
 *
 * @module
 */

import { scrubbedModel } from "../../agent/scrubbed_model.ts";
import type { Config } from "../../config/schema.ts";
import { toErrorData } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Model } from "../../model/port.ts";
import { type ModelListing, type ModelRegistry, resolveModels } from "../../model/registry.ts";
import type { Scrubber } from "../../secrets/scrubber.ts";

/** The model in force, as clients are told of it. */
export interface RuntimeModel {
  /** `<provider>/<id>`, or `offline`. */
  name: string;
  /** Absent while no named preset is in force. */
  preset?: string;
}

/** What {@linkcode createLiveModels} takes. */
export interface LiveModelsDeps {
  /** The service's own, which is changed in place before `configure` is called. */
  config: Config;
  scrubber: Scrubber;
  log: Pick<Log, "info" | "error">;
  resolve?: (config: Pick<Config, "agent" | "providers">) => ModelRegistry;
}

/** All of it is read anew each time: it may be another one the next time. */
export interface LiveModels {
  /** The model in force, which says no secret. */
  readonly default: Model;
  /** By name or preset, as {@linkcode ModelRegistry.pick} has it; says no secret. */
  pick(nameOrPreset: string): Model;
  readonly current: RuntimeModel;
  /** Why it is the one in force, for people. */
  readonly reason: string;
  list(): ModelListing[];
  /** Takes up what changed in the configuration, at these dotted paths. */
  configure(paths: readonly string[]): void;
  /**
   * Called when the model in force is another one, or the list of models changed. Must not throw.
   * Returns how to stop.
   */
  onModelChange(listener: (model: RuntimeModel) => void): () => void;
}

/** Keys of `agent` that models are made of. */
const MODEL_KEYS = [
  "model",
  "fallbacks",
  "preset",
  "presets",
  "temperature",
  "maxOutputTokens",
  "contextTokens",
] as const;

/** Throws `config_invalid` when the configuration names what does not exist. */
export function createLiveModels(deps: LiveModelsDeps): LiveModels {
  const { config, scrubber, log, resolve = (config) => resolveModels({ config }) } = deps;
  const listeners = new Set<(model: RuntimeModel) => void>();
  let now = read();

  function read() {
    // A copy: what was resolved must not change under those who hold it.
    const { agent, providers } = structuredClone({
      agent: config.agent,
      providers: config.providers,
    });
    const registry = resolve({ agent, providers });
    // The first turn would wait for the package otherwise; that it is missing is said by that turn.
    registry.preload().catch(() => {});
    const { name } = registry.default;
    const current: RuntimeModel = agent.preset === "" ? { name } : { name, preset: agent.preset };
    return { registry, main: scrubbedModel(registry.default, scrubber), current };
  }

  return {
    get default() {
      return now.main;
    },
    pick: (name) => scrubbedModel(now.registry.pick(name), scrubber),
    get current() {
      return now.current;
    },
    get reason() {
      return now.registry.reason;
    },
    list: () => now.registry.list(),
    configure(paths) {
      if (!paths.some(isOfModels)) return;
      const before = now;
      try {
        now = read();
      } catch (error) {
        log.error("The models of the edited configuration cannot be used; those before stay", {
          reason: toErrorData(error).message,
        });
        return;
      }
      if (tellable(before) === tellable(now)) return;
      log.info("Other models are in force", { model: now.current.name });
      for (const listener of [...listeners]) listener({ ...now.current });
    },
    onModelChange(listener) {
      // An own function for each call: whoever listens twice stops twice.
      const own = (model: RuntimeModel) => listener(model);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}

/** All that a catalogue of models is made of. */
function tellable({ current, registry }: { current: RuntimeModel; registry: ModelRegistry }) {
  return JSON.stringify([current, registry.list()]);
}

function isOfModels(path: string): boolean {
  return MODEL_KEYS.some((key) => {
    const name = `agent.${key}`;
    return path === name || path === "agent" ||
      (path.startsWith(name) && /^[.[]/.test(path.slice(name.length)));
  });
}
