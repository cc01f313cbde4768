/**
 * A model of a provider.
 *
 * @module
 */

import type { Model, ModelEvent, ModelRequest } from "./port.ts";
import { type ErrorOrigin, ProviderError, toProviderError } from "./provider_error.ts";
import type { ProviderSpec } from "./provider_spec.ts";
import { type RetryDeps, withRetry } from "./retry.ts";
import type { Wire, WireDeps } from "./wire.ts";

/** What {@linkcode createProviderModel} needs. */
export interface ProviderModelDeps extends Pick<WireDeps, "id" | "settings" | "fetch"> {
  spec: ProviderSpec;
  contextTokens: number;
  retry: RetryDeps;
  /** Milliseconds since 1970. */
  now: () => number;
  load: (deps: WireDeps) => Promise<Wire>;
}

const CLOSED = new ProviderError("provider_error", "the connection was closed", false);

/** Makes the model; nothing is imported or connected before it is asked. */
export function createProviderModel(deps: ProviderModelDeps): Model {
  const { spec, id, contextTokens, retry } = deps;
  const name = `${spec.name}/${id}`;
  const origin: ErrorOrigin = { spec, model: name, now: deps.now };
  let loading: Promise<Wire> | undefined;

  function load(): Promise<Wire> {
    loading ??= deps.load({ ...deps, origin }).catch((cause) => {
      loading = undefined;
      const message = `cannot load what asks ${name}: ${String(cause)}`;
      throw new ProviderError("provider_error", message, false, {}, { cause });
    });
    return loading;
  }

  async function* attempt(request: ModelRequest): AsyncGenerator<readonly ModelEvent[]> {
    const { signal } = request;
    signal.throwIfAborted();
    // The caller's signal outlives this call; aborting one of our own closes the connection also
    // when the caller stops reading.
    const connection = new AbortController();
    const abort = () => connection.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    let isOver = false;
    try {
      const ask = await load();
      yield* ask({ ...request, signal: connection.signal });
      isOver = true;
    } catch (error) {
      signal.throwIfAborted();
      throw toProviderError(error, origin);
    } finally {
      signal.removeEventListener("abort", abort);
      if (!isOver) connection.abort(CLOSED);
    }
  }

  return {
    name,
    contextTokens,
    stream: (request) => withRetry(() => attempt(request), request.signal, retry),
  };
}
