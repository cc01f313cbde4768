/**
 * The models that can be had here without further ado: keys in the environment, servers on this
 * machine.
 *
 * @module
 */

import type { Env } from "../../lib/config/references.ts";
import { findLocalServers } from "../../lib/model/find_local_servers.ts";
import { listRemoteModels } from "../../lib/model/list_remote_models.ts";
import { USUAL_MODELS } from "../../lib/model/provider_spec.ts";

/** A provider that can be chosen. */
export interface Offer {
  /** For people. */
  label: string;
  /** Its key under `providers`. */
  provider: string;
  /** What stands there; secrets are references. */
  section: Record<string, string>;
  /** Ids of its models, the one to begin with first; empty when they cannot be known. */
  models: string[];
}

/** How long a server may take to answer, ms. */
const TIMEOUT_MS = 1_000;

/** Every offer: the environment first, as a start would take it, then servers of this machine. */
export async function findOffers(
  { env, fetch }: { env: Env; fetch: typeof globalThis.fetch },
): Promise<Offer[]> {
  const [openai, local] = await Promise.all([openaiOffer(env, fetch), findLocalServers({ fetch })]);
  const offers = openai === undefined ? [] : [openai];
  if (env("ANTHROPIC_API_KEY")) {
    offers.push({
      label: "Anthropic, with the key in ANTHROPIC_API_KEY",
      provider: "anthropic",
      section: { apiKey: "${ANTHROPIC_API_KEY}" },
      models: [USUAL_MODELS.anthropic],
    });
  }
  for (const { name, provider, baseUrl, models } of local) {
    // A server without a model can answer nothing yet.
    if (models.length === 0) continue;
    offers.push({
      label: `${name} on this machine (${baseUrl})`,
      provider,
      section: { type: "openai-compatible", baseUrl },
      models,
    });
  }
  return offers;
}

/** Ids of the models of a server that imitates OpenAI; empty when it does not say. */
export async function modelsAt(
  { baseUrl, apiKey, fetch }: { baseUrl: string; apiKey: string; fetch: typeof globalThis.fetch },
): Promise<string[]> {
  const spec = {
    type: "openai-compatible" as const,
    baseUrl: baseUrl.replace(/\/+$/, ""),
    apiKey,
    headers: {},
  };
  const answer = await listRemoteModels({ spec, fetch, timeoutMs: TIMEOUT_MS });
  return answer.kind === "answered" ? answer.models ?? [] : [];
}

async function openaiOffer(
  env: Env,
  fetch: typeof globalThis.fetch,
): Promise<Offer | undefined> {
  const apiKey = env("OPENAI_API_KEY") ?? "";
  const baseUrl = env("OPENAI_BASE_URL") ?? "";
  const key: Record<string, string> = apiKey === "" ? {} : { apiKey: "${OPENAI_API_KEY}" };
  if (baseUrl !== "") {
    if (!isHttpUrl(baseUrl)) return undefined;
    return {
      label: `The server that OPENAI_BASE_URL names (${new URL(baseUrl).host})`,
      provider: "openai",
      section: { type: "openai-compatible", baseUrl: "${OPENAI_BASE_URL}", ...key },
      models: await modelsAt({ baseUrl, apiKey, fetch }),
    };
  }
  if (apiKey === "") return undefined;
  return {
    label: "OpenAI, with the key in OPENAI_API_KEY",
    provider: "openai",
    section: key,
    models: [USUAL_MODELS.openai],
  };
}

/** Whether a text is an address that a provider can have. */
export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
