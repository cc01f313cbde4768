/**
 * What a provider's section of the configuration means: its wire, where it is, and whether it can
 * be asked at all. Pure data; imports none of the packages that talk to providers.
 *
 * @module
 */

import type { Config, ProviderConfig } from "../config/schema.ts";

/** Wires that a provider can speak. */
export type ProviderType = "openai" | "anthropic" | "openai-compatible";

/** A provider, read. */
export interface ProviderSpec {
  /** Its key in `providers`. */
  readonly name: string;
  readonly type: ProviderType;
  /** Without a trailing slash; empty when the section gives none and the type has no usual one. */
  readonly baseUrl: string;
  /** Empty for none. */
  readonly apiKey: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Model id when nobody names one; empty when it cannot be known. */
  readonly model: string;
  /** Why it cannot be asked, in words for people; undefined when it can. */
  readonly missing?: string;
}

/** Where a provider is when its section gives no `baseUrl`. */
const USUAL_BASE_URLS: Readonly<Record<ProviderType, string>> = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
  "openai-compatible": "",
};

/**
 * Model ids when neither `agent.model` nor the provider's `model` names one: the current general
 * model in the middle of each range. An account without it gets the provider's own error, which
 * says so; `agent.model` then names another.
 */
export const USUAL_MODELS: Readonly<Record<ProviderType, string>> = {
  openai: "gpt-6.1-terra",
  anthropic: "claude-sonnet-5-5",
  "openai-compatible": "",
};

/** Every provider of the configuration, in its order. */
export function readProviders(config: Pick<Config, "providers">): ProviderSpec[] {
  return Object.entries(config.providers).map(([name, section]) => readProvider(name, section));
}

/** One provider. */
export function readProvider(name: string, section: ProviderConfig): ProviderSpec {
  const type = section.type ??
    (name === "openai" || name === "anthropic" ? name : "openai-compatible");
  const baseUrl = usableBaseUrl(type, section.baseUrl || USUAL_BASE_URLS[type]);
  const { apiKey, headers } = section;
  const spec = { name, type, baseUrl, apiKey, headers, model: section.model || USUAL_MODELS[type] };
  const missing = whatIsMissing(spec, section);
  return missing === undefined ? spec : { ...spec, missing };
}

/** `<provider>/<model id>` taken apart; the id may hold further slashes. Undefined without one. */
export function splitModelName(name: string): { provider: string; id: string } | undefined {
  const slash = name.indexOf("/");
  if (slash < 1 || slash === name.length - 1) return undefined;
  return { provider: name.slice(0, slash), id: name.slice(slash + 1) };
}

/** Scheme, host and path of a base URL: what may be shown, for userinfo and query can hold a key. */
export function shownBaseUrl(baseUrl: string): string {
  const url = new URL(baseUrl);
  return `${url.origin}${url.pathname === "/" ? "" : url.pathname}`;
}

function usableBaseUrl(type: ProviderType, baseUrl: string): string {
  const trimmed = baseUrl.replace(/\/+$/, "");
  // Anthropic's own client takes this address without the version; people copy it from there.
  return type === "anthropic" && trimmed === "https://api.anthropic.com"
    ? USUAL_BASE_URLS.anthropic
    : trimmed;
}

function whatIsMissing(
  { name, type, baseUrl }: ProviderSpec,
  { apiKey, baseUrl: configured }: ProviderConfig,
): string | undefined {
  if (baseUrl === "") return `providers.${name}.baseUrl is not set`;
  if (type === "openai-compatible" || apiKey !== "" || configured) return undefined;
  return `providers.${name}.apiKey is not set (in the environment: ${type.toUpperCase()}_API_KEY)`;
}
