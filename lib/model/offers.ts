/**
 * The providers that can be set up by name, and what of them is found here: keys in the environment,
 * servers on this machine.
 *
 * @module
 */

import type { Env } from "../config/references.ts";
import { findLocalServers } from "./find_local_servers.ts";
import { USUAL_MODELS } from "./provider_spec.ts";

/** A provider that can be chosen. */
export interface Offer {
  /** For people. */
  label: string;
  /** Its key under `providers`. */
  provider: string;
  /** What its section holds beside the key. */
  section: { type?: "openai-compatible"; baseUrl?: string };
  /** Variable that holds the key for this very address. */
  keyVariable?: string;
  /** It asks for no key. */
  keyless?: true;
  /** Where a key is made; absent for a server that may need none. */
  keyPage?: string;
  /** Model to begin with, where it is known. */
  usualModel?: string;
  /** How it was found here, for people. */
  found?: string;
}

/** Providers with a name of their own in the list. */
export const NAMED: readonly Offer[] = [
  {
    label: "OpenAI",
    provider: "openai",
    section: {},
    keyVariable: "OPENAI_API_KEY",
    keyPage: "https://platform.openai.com/api-keys",
    usualModel: USUAL_MODELS.openai,
  },
  {
    label: "Anthropic",
    provider: "anthropic",
    section: {},
    keyVariable: "ANTHROPIC_API_KEY",
    keyPage: "https://console.anthropic.com/settings/keys",
    usualModel: USUAL_MODELS.anthropic,
  },
  {
    label: "OpenRouter",
    provider: "openrouter",
    section: { baseUrl: "https://openrouter.ai/api/v1" },
    keyVariable: "OPENROUTER_API_KEY",
    keyPage: "https://openrouter.ai/settings/keys",
    usualModel: "openrouter/auto",
  },
  {
    label: "Ollama",
    provider: "ollama",
    section: { baseUrl: "http://127.0.0.1:11434/v1" },
    keyless: true,
  },
];

/** OpenAI-style servers that a name stands for. */
export const ADDRESSES: Readonly<Record<string, string>> = {
  deepseek: "https://api.deepseek.com/v1",
  gemini: "https://generativelanguage.googleapis.com/v1beta/openai",
  groq: "https://api.groq.com/openai/v1",
  llamacpp: "http://127.0.0.1:8080/v1",
  lmstudio: "http://127.0.0.1:1234/v1",
  mistral: "https://api.mistral.ai/v1",
  together: "https://api.together.xyz/v1",
  xai: "https://api.x.ai/v1",
};

/** Every name that stands for an address, for people and completions. */
export const KNOWN_NAMES: readonly string[] = [
  ...NAMED.map(({ provider }) => provider),
  ...Object.keys(ADDRESSES),
];

/** Names that are not in the list of the dialogue. */
export const OTHER_NAMES: readonly string[] = Object.keys(ADDRESSES);

/** The provider of a name, maybe at another address; undefined for an unknown name without one. */
export function offerOf(provider: string, baseUrl?: string): Offer | undefined {
  const named = NAMED.find((each) => each.provider === provider);
  if (named !== undefined && baseUrl === undefined) return named;
  const address = baseUrl ?? ADDRESSES[provider];
  if (address === undefined) return undefined;
  return {
    label: named?.label ?? provider,
    provider,
    section: {
      // These two names alone stand for a wire of their own.
      ...["openai", "anthropic"].includes(provider) && { type: "openai-compatible" as const },
      baseUrl: address,
    },
    // A key of the environment goes to the address that it is known for, and nowhere else.
    ...baseUrl === undefined && { keyVariable: `${provider.toUpperCase()}_API_KEY` },
  };
}

/** The provider at an address that somebody typed: named after its host, or `server`. */
export function offerAt(baseUrl: string): Offer {
  const known = Object.entries(ADDRESSES).find(([, address]) => address === baseUrl);
  const { hostname } = new URL(baseUrl);
  const label = /^(?:.+\.)?([a-z][a-z0-9-]*)\.[a-z]{2,}$/.exec(hostname)?.[1];
  const name = known?.[0] ?? label ?? "server";
  return { ...offerOf(name, baseUrl)!, label: new URL(baseUrl).host };
}

/** Every provider of the list, those that are found here first. */
export async function listOffers(
  { env, fetch }: { env: Env; fetch: typeof globalThis.fetch },
): Promise<Offer[]> {
  const baseUrl = env("OPENAI_BASE_URL") ?? "";
  const found: Offer[] = [];
  if (isHttpUrl(baseUrl)) {
    found.push({
      ...offerOf("openai", baseUrl)!,
      label: new URL(baseUrl).host,
      keyVariable: "OPENAI_API_KEY",
      found: "OPENAI_BASE_URL is set",
    });
  }
  for (const offer of NAMED) {
    const { provider, keyVariable } = offer;
    // Somebody meant another address, so the key is not for the usual one.
    if (provider === "openai" && baseUrl !== "") continue;
    if (keyVariable !== undefined && env(keyVariable)) {
      found.push({ ...offer, found: `${keyVariable} is set` });
    }
  }
  for (const { name, provider, baseUrl, models } of await findLocalServers({ fetch })) {
    // A server without a model can't answer yet.
    if (models.length === 0) continue;
    const server = { label: name, provider, section: { baseUrl }, keyless: true as const };
    found.push({ ...server, found: "runs on this machine" });
  }
  const others = NAMED.filter(({ provider }) => !found.some((each) => each.provider === provider));
  return [...found, ...others];
}

/** Whether a text is an address that a provider can have. */
export function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === "";
}
