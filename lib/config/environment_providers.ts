/**
 * Model providers that the environment names: OPENAI_API_KEY, ANTHROPIC_API_KEY and OPENAI_BASE_URL
 * count as configured.
 *
 * What the file says wins. An entry of the file that names neither a key nor an address is completed;
 * one that names either is left alone, so that a key never goes to an address it was not given for.
 *
 * @module
 */

import type { Warning } from "./problem.ts";
import type { Env } from "./references.ts";
import type { Config, ProviderConfig } from "./schema.ts";

/** A provider that came from the environment, or was completed from it. */
export interface EnvironmentProvider {
  /** Its key in `providers`. */
  name: string;
  /** The variables that were used, by the key that each of them filled. */
  variables: { apiKey?: string; baseUrl?: string };
}

/** A configuration with the providers of the environment among its own, behind those of the file. */
export interface WithEnvironment {
  config: Config;
  environmentProviders: EnvironmentProvider[];
  warnings: Warning[];
}

const VARIABLES = {
  openai: { apiKey: "OPENAI_API_KEY", baseUrl: "OPENAI_BASE_URL" },
  anthropic: { apiKey: "ANTHROPIC_API_KEY", baseUrl: undefined },
} as const;

/** Adds the providers that the environment names. An empty variable counts as unset. */
export function withEnvironmentProviders(config: Config, env: Env): WithEnvironment {
  const providers = { ...config.providers };
  const environmentProviders: EnvironmentProvider[] = [];
  const warnings: Warning[] = [];
  for (const name of ["openai", "anthropic"] as const) {
    const own = Object.hasOwn(providers, name) ? providers[name]! : undefined;
    if (own !== undefined && (own.apiKey !== "" || own.baseUrl !== undefined)) continue;
    const variables = VARIABLES[name];
    const apiKey = env(variables.apiKey) || undefined;
    const baseUrl = variables.baseUrl && env(variables.baseUrl) || undefined;
    if (apiKey === undefined && baseUrl === undefined) continue;
    if (baseUrl !== undefined && !isHttpUrl(baseUrl)) {
      // Its key must not go to the usual address either: somebody meant another one.
      warnings.push({
        path: ["providers", name],
        kind: "environment",
        message: `${variables.baseUrl} is no address that begins with http:// or https://, ` +
          "so nothing is taken from the environment",
      });
      continue;
    }
    providers[name] = { ...complete(own), ...(baseUrl && { baseUrl }), apiKey: apiKey ?? "" };
    providers[name].type ??= wireOf(name, baseUrl);
    environmentProviders.push({
      name,
      variables: {
        ...(apiKey && { apiKey: variables.apiKey }),
        ...(baseUrl && { baseUrl: variables.baseUrl }),
      },
    });
  }
  return { config: { ...config, providers }, environmentProviders, warnings };
}

function complete(own: ProviderConfig | undefined): ProviderConfig {
  return { apiKey: "", model: "", headers: {}, ...own };
}

/** Servers that imitate OpenAI speak its older wire; its own address has more. */
function wireOf(name: "openai" | "anthropic", baseUrl: string | undefined): ProviderConfig["type"] {
  if (name === "anthropic" || baseUrl === undefined) return name;
  return /(?:^|\.)openai\.com$/.test(new URL(baseUrl).hostname) ? "openai" : "openai-compatible";
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
