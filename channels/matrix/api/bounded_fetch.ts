/**
 * How requests reach a homeserver: with an end in time, and answers of bounded size, which are read before
 * they are handed on. A redirect is not followed: the token goes to the homeserver that was named alone.
 *
 * @module
 */

import type { Clock } from "../../../lib/agent/clock.ts";

/** Answers of the API; a first sync of a large account is the longest. */
const MAX_JSON_BYTES = 64 * 1024 * 1024;

/** Beside what the server itself is asked to wait, milliseconds. */
const TIMEOUT_MS = 60_000;

/** What requests are made with. */
export interface BoundedFetchDeps {
  clock: Pick<Clock, "after">;
  /** Bytes of a file; a longer one rejects with {@linkcode TooLargeError}. */
  maxFileBytes: number;
  /** Ends everything that is under way. */
  signal: AbortSignal;
}

/** The server has more than is taken. */
export class TooLargeError extends Error {
  override readonly name = "TooLargeError";
}

/** See the module. */
export function boundedFetch(
  { clock, maxFileBytes, signal }: BoundedFetchDeps,
): typeof fetch {
  return async (resource, init = {}) => {
    const url = new URL(resource instanceof Request ? resource.url : resource);
    const isFile = url.pathname.includes("/media/") && url.pathname.includes("/download/");
    const maxBytes = isFile ? maxFileBytes : MAX_JSON_BYTES;
    const waitMs = Number(url.searchParams.get("timeout") ?? 0);
    const late = new AbortController();
    const cancel = clock.after(
      TIMEOUT_MS + waitMs,
      () => late.abort(new Error("The homeserver did not answer in time")),
    );
    try {
      const signals = [signal, late.signal, ...init.signal ? [init.signal] : []];
      const response = await fetch(url, {
        method: init.method,
        headers: init.headers,
        body: init.body,
        redirect: "manual",
        signal: AbortSignal.any(signals),
      });
      const { status, headers } = response;
      const body = await readBounded(response, maxBytes);
      const hasNoBody = status === 204 || status === 205 || status === 304;
      return new Response(hasNoBody ? null : body, { status, headers });
    } finally {
      cancel();
    }
  };
}

async function readBounded(
  response: Response,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const announced = Number(response.headers.get("content-length") ?? 0);
  const parts: Uint8Array[] = [];
  let length = 0;
  const isTooLarge = () => Math.max(announced, length) > maxBytes;
  if (response.body !== null) {
    for await (const part of response.body) {
      length += part.length;
      // Leaving the loop ends the connection's stream.
      if (isTooLarge()) break;
      parts.push(part);
    }
  }
  if (isTooLarge()) throw new TooLargeError(`The answer has more than ${maxBytes} bytes`);
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
