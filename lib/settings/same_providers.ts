/**
 * Whether a running service can answer with the models of another configuration.
 *
 * @module
 */

import { chooseModel } from "../model/choose_model.ts";
import { splitModelName } from "../model/provider_spec.ts";
import { sameJson } from "../config/rewrite.ts";
import type { Config } from "../config/schema.ts";

/**
 * Whether every provider that the models of `next` are asked through is in `running` as it is in
 * `next`. The permissions of a running service are those of its own providers, so it may
 * then reach each of their hosts, with the same key, and otherwise has to be started anew.
 */
export function hasSameProviders(
  running: Pick<Config, "agent" | "providers">,
  next: Pick<Config, "agent" | "providers">,
): boolean {
  const { agent } = next;
  const chosen = chosenName(next);
  if (chosen === undefined || chosen !== chosenName({ agent, providers: running.providers })) {
    return false;
  }
  const names = [
    chosen,
    ...agent.fallbacks,
    ...Object.values(agent.presets).map(({ model }) => model),
  ];
  return names.every((name) => {
    const provider = splitModelName(name)?.provider;
    return provider === undefined ||
      sameJson(own(running.providers, provider), own(next.providers, provider));
  });
}

/** The model in force; undefined for one that cannot be asked. */
function chosenName(config: Pick<Config, "agent" | "providers">): string | undefined {
  try {
    return chooseModel(config).name;
  } catch {
    return undefined;
  }
}

function own<T>(values: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}
