/**
 * Requests whose answers are read whole before they are handed on, so that nothing of one is left open
 * whatever becomes of it.
 *
 * @module
 */

import { readBounded } from "./read_bounded.ts";

/**
 * The answer; undefined for one of more bytes. A redirect is an answer like any other: followed, it would
 * take the token along. Rejects as `fetch` does.
 */
export async function fetchWhole(
  input: Request | URL | string,
  init: RequestInit & { signal: AbortSignal },
  maxBytes: number,
  ask: typeof fetch = fetch,
): Promise<Response | undefined> {
  const response = await ask(input, { ...init, redirect: "manual" });
  const bytes = await readBounded(response, maxBytes, init.signal);
  if (bytes === undefined) return undefined;
  const { status, statusText, headers } = response;
  const hasNoBody = status === 204 || status === 205 || status === 304;
  return new Response(hasNoBody ? null : bytes, { status, statusText, headers });
}
