/**
 * A model of a provider.
 *
 * @module
 */

import type { LoadedModel } from "./load_language_model.ts";
import type { Model, ModelEvent, ModelRequest } from "./port.ts";
import { type ErrorOrigin, ProviderError, toProviderError } from "./provider_error.ts";
import { createProviderFetch } from "./provider_fetch.ts";
import type { ProviderSpec } from "./provider_spec.ts";
import { type RetryDeps, withRetry } from "./retry.ts";
import { toModelEvents } from "./to_model_events.ts";
import { toPrompt, toTools } from "./to_prompt.ts";

/** Settings of a model's calls; undefined: the provider's default. */
export interface ModelSettings {
  temperature?: number;
  maxOutputTokens?: number;
}

/** What {@linkcode createProviderModel} needs. */
export interface ProviderModelDeps {
  spec: ProviderSpec;
  /** The model's id at the provider. */
  id: string;
  settings: ModelSettings;
  contextTokens: number;
  retry: RetryDeps;
  fetch: typeof fetch;
  /** Milliseconds since 1970. */
  now: () => number;
  load: (spec: ProviderSpec, id: string, fetch: typeof globalThis.fetch) => Promise<LoadedModel>;
}

const CLOSED = new ProviderError("provider_error", "the connection was closed", false);

/** Makes the model; nothing is imported or connected before it is asked. */
export function createProviderModel(deps: ProviderModelDeps): Model {
  const { spec, id, contextTokens, retry } = deps;
  const name = `${spec.name}/${id}`;
  const origin: ErrorOrigin = { spec, model: name, now: deps.now };
  const fetch = createProviderFetch({ spec, fetch: deps.fetch });
  let loading: Promise<LoadedModel> | undefined;

  function load(): Promise<LoadedModel> {
    loading ??= deps.load(spec, id, fetch).catch((cause) => {
      loading = undefined;
      const message = `cannot load what asks ${name}: ${String(cause)}`;
      throw new ProviderError("provider_error", message, false, {}, { cause });
    });
    return loading;
  }

  async function* attempt(request: ModelRequest): AsyncGenerator<ModelEvent> {
    const { signal } = request;
    signal.throwIfAborted();
    // The caller's signal outlives this call; aborting one of our own closes the connection also
    // when the caller stops reading.
    const connection = new AbortController();
    const abort = () => connection.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    try {
      const loaded = await load();
      const { stream } = await loaded.model.doStream({
        prompt: toPrompt(request, { type: spec.type, model: name }),
        tools: request.tools.length > 0 ? toTools(request.tools) : undefined,
        temperature: deps.settings.temperature,
        maxOutputTokens: deps.settings.maxOutputTokens,
        providerOptions: loaded.providerOptions,
        abortSignal: connection.signal,
      });
      yield* toModelEvents(stream, {
        origin,
        thinkTags: loaded.thinkTags,
        idTaken: (callId) => hasCall(request, callId),
      });
    } catch (error) {
      signal.throwIfAborted();
      throw toProviderError(error, origin);
    } finally {
      signal.removeEventListener("abort", abort);
      // Nothing, if the answer was read to its end.
      connection.abort(CLOSED);
    }
  }

  return {
    name,
    contextTokens,
    stream: (request) => withRetry(() => attempt(request), request.signal, retry),
  };
}

function hasCall({ messages }: ModelRequest, callId: string): boolean {
  return messages.some((message) =>
    message.role === "assistant" && message.calls.some((call) => call.callId === callId)
  );
}
