/**
 * Asks a model for one short answer: the call that shows that key, address and model are right.
 * `doctor` and `onboard` make it; a start never does.
 *
 * @module
 */

import { ServiceError, toErrorData } from "../base/errors.ts";
import type { ProviderConfig } from "../config/schema.ts";
import { createProviderModel } from "./provider_model.ts";
import { loadWire } from "./load_wire.ts";
import { readProvider } from "./provider_spec.ts";
import { sleep } from "./retry.ts";

/** What {@linkcode tryModel} takes. */
export interface TryModelOptions {
  /** Key of the provider under `providers`. */
  provider: string;
  /** Its section, references replaced. */
  section: ProviderConfig;
  /** The model's id at the provider. */
  id: string;
  temperature?: number;
  fetch: typeof fetch;
  timeoutMs: number;
}

/** How the call ended. `message` is for people, names what failed and holds no key. */
export type ModelTrial =
  | { ok: true; ms: number }
  | { ok: false; why: "key" | "unreachable" | "model" | "limit" | "other"; message: string };

/** The least that every provider takes; the answer itself is not looked at. */
const MAX_OUTPUT_TOKENS = 16;

/** Makes the call, once. Never rejects. */
export async function tryModel(options: TryModelOptions): Promise<ModelTrial> {
  const { provider, section, id, temperature, fetch, timeoutMs } = options;
  const signal = AbortSignal.timeout(timeoutMs);
  const started = performance.now();
  const model = createProviderModel({
    spec: readProvider(provider, section),
    id,
    settings: { temperature, maxOutputTokens: MAX_OUTPUT_TOKENS },
    contextTokens: 1_000,
    retry: {
      policy: { maxTries: 1, firstDelayMs: 0, maxDelayMs: 0 },
      random: Math.random,
      sleep,
    },
    fetch,
    now: Date.now,
    load: loadWire,
  });
  try {
    const request = {
      system: "",
      messages: [{
        role: "user" as const,
        parts: [{ type: "text" as const, text: "Say OK." }],
      }],
      tools: [],
      signal,
    };
    for await (const _ of model.stream(request));
    return { ok: true, ms: Math.round(performance.now() - started) };
  } catch (error) {
    if (signal.aborted) {
      const message = `${provider} didn't answer in ${timeoutMs / 1_000} s`;
      return { ok: false, why: "unreachable", message };
    }
    return { ok: false, why: whyOf(error), message: toErrorData(error).message };
  }
}

function whyOf(error: unknown): Exclude<ModelTrial, { ok: true }>["why"] {
  if (!(error instanceof ServiceError)) return "other";
  if (error.code === "provider_unreachable") return "unreachable";
  if (error.code === "provider_rate_limited") return "limit";
  const { providerStatus } = error.details;
  if (providerStatus === 401 || providerStatus === 403) return "key";
  // Some answer 400 for a model that they don't have, and say so.
  const namesModel = providerStatus === 400 && /\bmodel\b/i.test(error.message);
  return providerStatus === 404 || namesModel ? "model" : "other";
}
