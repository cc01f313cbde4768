/**
 * `fetch` for an SDK that neither ends its calls nor reads every answer: with a time, an end and a size.
 *
 * @module
 */

import type { Clock } from "../../../lib/agent/clock.ts";

/** Bytes of an answer of the Web API. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** What it works with. */
export interface BoundedFetchDeps {
  /** Ends every call that is under way. */
  signal: AbortSignal;
  /** How long a call may take, its answer included, milliseconds. */
  timeoutMs: number;
  clock: Pick<Clock, "after">;
  maxBytes?: number;
}

/** The function. Redirects are not followed: a token would go along. */
export function boundedFetch(
  { signal, timeoutMs, clock, maxBytes = MAX_ANSWER_BYTES }: BoundedFetchDeps,
): typeof fetch {
  return async (input, init) => {
    const over = new AbortController();
    const stop = () => over.abort(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener("abort", stop, { once: true });
    const cancel = clock.after(timeoutMs, () => over.abort(new Error("It took too long")));
    try {
      const response = await fetch(input, { ...init, redirect: "manual", signal: over.signal });
      const bytes = await readBounded(response, maxBytes);
      const { status, statusText, headers } = response;
      return new Response(isBodiless(status) ? null : bytes, {
        status: status === 0 ? 502 : status,
        statusText,
        headers,
      });
    } finally {
      cancel();
      signal.removeEventListener("abort", stop);
    }
  };
}

/** The body, whole. Rejects with RangeError for one that is too large. */
export async function readBounded(
  { body }: Pick<Response, "body">,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    // Leaving the loop ends the rest of it.
    if (size > maxBytes) throw new RangeError(`More than ${maxBytes} bytes came`);
    chunks.push(chunk as Uint8Array<ArrayBuffer>);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

function isBodiless(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}
