/**
 * Whether a provider that is being set up answers: with this key, from this address, by that model. Makes
 * one call each, and says what to do where it fails.
 *
 * @module
 */

import type { ProviderConfig } from "../config/schema.ts";
import { listRemoteModels } from "./list_remote_models.ts";
import type { Offer } from "./offers.ts";
import { readProvider, shownBaseUrl } from "./provider_spec.ts";
import { type ModelTrial, tryModel } from "./try_model.ts";

/** A provider with its key and one of its models. */
export interface SetUp {
  offer: Offer;
  /** Empty for none. */
  key: string;
  /** The model's id at the provider. */
  id: string;
  /** Absent: it was not tried. */
  trial?: ModelTrial;
}

/** How long a server may take to list its models, ms. */
const LIST_TIMEOUT_MS = 5_000;

/** How long a model may take for its first answer, ms: a local server may load it first. */
const TRIAL_TIMEOUT_MS = 60_000;

/** Least characters of a key that is kept as a secret. */
const MIN_KEY_CHARS = 8;

/** What is wrong with a key, for people; undefined for one that can be kept. */
export function keyProblem(key: string): string | undefined {
  if (/[^\x21-\x7e]/.test(key)) return "A key has no spaces and only ASCII characters";
  return key.length < MIN_KEY_CHARS
    ? `That key is too short: expected at least ${MIN_KEY_CHARS} characters`
    : undefined;
}

/** Why nobody answered, by what the failure says of itself. */
const REASONS: readonly [pattern: RegExp, reason: string][] = [
  [/refused/i, "the connection was refused"],
  [/dns|lookup|resolve|name or service/i, "its name isn't known"],
  [/certificate|UnknownIssuer/i, "its certificate isn't trusted"],
  [/timed out|timeout|no answer|didn't answer/i, "it didn't answer in time"],
  [/unreachable|connection failed/i, "the connection failed"],
];

/** Ids of the provider's models; undefined where it doesn't say. */
export async function modelsOf(
  { offer, key }: Pick<SetUp, "offer" | "key">,
  fetch: typeof globalThis.fetch,
): Promise<{ models?: string[] } | { failed: Extract<ModelTrial, { ok: false }> }> {
  const spec = readProvider(offer.provider, sectionOf(offer, key));
  const answer = await listRemoteModels({ spec, fetch, timeoutMs: LIST_TIMEOUT_MS });
  if (answer.kind === "unreachable") {
    return { failed: { ok: false, why: "unreachable", message: answer.reason } };
  }
  if (answer.status === 401 || answer.status === 403) {
    return { failed: { ok: false, why: "key", message: `status ${answer.status}` } };
  }
  return { models: answer.models };
}

/** Asks the model for a short answer. */
export async function tryOut(
  { offer, key, id }: SetUp,
  fetch: typeof globalThis.fetch,
): Promise<ModelTrial> {
  const section = sectionOf(offer, key);
  const { provider } = offer;
  return await tryModel({ provider, section, id, fetch, timeoutMs: TRIAL_TIMEOUT_MS });
}

/** What went wrong and what to do about it, a sentence each. */
export function wayOut(
  { offer: { label, provider, keyPage, section }, id }: Pick<SetUp, "offer" | "id">,
  { why, message }: Extract<ModelTrial, { ok: false }>,
): string {
  switch (why) {
    case "key":
      return `${label} refused the key. Check that you copied all of it` +
        (keyPage === undefined ? "." : `, or create one at ${keyPage}.`);
    case "unreachable": {
      const { baseUrl } = readProvider(provider, sectionOf({ section }, ""));
      if (provider === "ollama") {
        return `Ollama isn't running at ${shownBaseUrl(baseUrl)}. Start it with: ollama serve`;
      }
      const reason = REASONS.find(([pattern]) => pattern.test(message))?.[1];
      return reason === undefined
        ? `The test failed: ${message}`
        : `Can't reach ${new URL(baseUrl).host}: ${reason}. Check the address and your network.`;
    }
    case "model":
      return `${label} has no model "${id}".` +
        (provider === "ollama" ? ` Get it with: ollama pull ${id}` : " Choose another one.");
    case "limit":
      return `${label} takes the key, but no requests for now. ` +
        `Check your plan and balance: ${message}`;
    case "other":
      return `The test failed: ${message}`;
  }
}

/** The section with a key, every other setting at its default. */
export function sectionOf({ section }: Pick<Offer, "section">, key: string): ProviderConfig {
  return { model: "", headers: {}, ...section, apiKey: key };
}
