/**
 * Asks a model server which models it has: the one call, the same on every wire, that needs no model
 * and costs nothing. `doctor` and `onboard` use it; a start never does.
 *
 * @module
 */

import { readBody } from "./body_reader.ts";
import type { ProviderSpec } from "./provider_spec.ts";

/** Most bytes of an answer that are read; the longest lists of models are some 100 KiB. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Where and as whom to ask. */
export interface ListRemoteModelsOptions {
  spec: Pick<ProviderSpec, "type" | "baseUrl" | "apiKey" | "headers">;
  fetch: typeof fetch;
  timeoutMs: number;
}

/** What came back. `models` is undefined when the answer is no list. */
export type RemoteModels =
  | { kind: "answered"; status: number; models?: string[] }
  /** `reason` is for people and holds no secret. */
  | { kind: "unreachable"; reason: string };

/** Asks for the list. Never rejects. */
export async function listRemoteModels(
  { spec, fetch, timeoutMs }: ListRemoteModelsOptions,
): Promise<RemoteModels> {
  const { type, baseUrl, apiKey, headers } = spec;
  const auth: Record<string, string> = type === "anthropic"
    ? { "x-api-key": apiKey, "anthropic-version": "2023-06-01" }
    : apiKey === ""
    ? {}
    : { authorization: `Bearer ${apiKey}` };
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(`${baseUrl}/models`, {
      headers: { accept: "application/json", ...auth, ...headers },
      // The key is for this server alone.
      redirect: "manual",
      signal,
    });
    const { ok, status } = response;
    if (!ok) {
      await response.body?.cancel();
      return { kind: "answered", status };
    }
    return { kind: "answered", status, models: readIds(await readJson(response, signal)) };
  } catch (error) {
    if (signal.aborted) return { kind: "unreachable", reason: `no answer in ${timeoutMs} ms` };
    return { kind: "unreachable", reason: explain(error) };
  }
}

/** The answer as JSON; undefined when it is none, or too long. */
async function readJson({ body }: Response, signal: AbortSignal): Promise<unknown> {
  if (body === null) return undefined;
  let text = "";
  let bytes = 0;
  const decoder = new TextDecoder();
  const reader = readBody(body, signal);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    if (bytes > MAX_ANSWER_BYTES) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The ids of `{"data":[{"id":…}]}`, which OpenAI, Anthropic and everything compatible answer. */
function readIds(answer: unknown): string[] | undefined {
  const data = (answer as { data?: unknown } | null | undefined)?.data;
  if (!Array.isArray(data)) return undefined;
  return data.flatMap((each) => {
    const id = (each as { id?: unknown } | null)?.id;
    return typeof id === "string" ? [id] : [];
  });
}

/** The inmost cause: `fetch` says only that something was wrong, and repeats the whole URL. */
function explain(error: unknown): string {
  let cause = error;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  return message.replace(/https?:\/\/\S+/g, "the server");
}
