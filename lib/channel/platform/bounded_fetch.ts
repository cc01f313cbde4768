/**
 * `fetch` for the client of a platform's API: with an end in time, answers of bounded size that are read
 * before they are handed on, and errors that say nothing of the address, which may hold a token.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import { NotConnectedError } from "../delivery_error.ts";
import { FailedCall, failedCall, noAnswer } from "./failed_call.ts";
import { neverSent } from "./never_sent.ts";
import { readBounded } from "./read_bounded.ts";
import { withDeadline } from "./with_deadline.ts";

/** The code of an answer that has more bytes than it may. */
export const TOO_LARGE = "too_large";

/** The code of an address that the channel may not speak to. */
export const NOT_PERMITTED = "not_permitted";

/** Bounds of a request, and who is asked. */
export interface FetchBounds {
  /** At the head of a sentence: `Telegram`. */
  peer: string;
  /** The setting that holds the address, which a redirect rejects with; absent: it is an answer. */
  field?: string;
  /** For the request and its answer, milliseconds. */
  timeoutMs: number;
  /** Bytes of an answer; default 16 MiB. */
  maxBytes?: number;
  clock: Pick<Clock, "after">;
  /** Ends the request, which rejects with its reason. */
  signal?: AbortSignal;
  /** Default: the runtime's. */
  fetch?: typeof fetch;
}

const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * The answer, whatever its status. No redirect is followed: a token goes to the server that was named, and
 * nowhere else. Rejects with a `NotConnectedError` where nothing was sent, with an
 * `UncertainDeliveryError` where something may have been, and for an answer that is too large
 * (`failedCall(error).code` is {@linkcode TOO_LARGE}); each has a `FailedCall` as its cause.
 */
export async function boundedFetch(
  input: Request | URL | string,
  init: RequestInit | undefined,
  { peer, field, timeoutMs, maxBytes = MAX_ANSWER_BYTES, clock, signal, ...using }: FetchBounds,
): Promise<Response> {
  return await withDeadline({ timeoutMs, signal, clock }, async (ending) => {
    const either = init?.signal ? AbortSignal.any([ending, init.signal]) : ending;
    let answer: Response | undefined;
    try {
      answer = await fetchWhole(input, { ...init, signal: either }, maxBytes, using.fetch);
    } catch (error) {
      signal?.throwIfAborted();
      init?.signal?.throwIfAborted();
      if (ending.aborted) throw noAnswer(`${peer} has not answered in time`);
      const reason = reasonOf(error);
      if (!neverSent(error)) throw noAnswer(`${peer} was cut off${reason}`);
      throw Object.assign(new NotConnectedError(`${peer} cannot be reached${reason}`), {
        cause: new FailedCall({ code: isNotPermitted(error) ? NOT_PERMITTED : "" }),
      });
    }
    if (answer === undefined) throw noAnswer(`${peer}'s answer is too large`, { code: TOO_LARGE });
    const { status, headers } = answer;
    if (field === undefined || status < 300 || status >= 400) return answer;
    const place = URL.parse(headers.get("location") ?? "")?.origin ?? "another address";
    throw new Error(`${peer} sends requests to ${place}: set ${field} to that`, {
      cause: new FailedCall({ status }),
    });
  });
}

/** The bytes of an answer; undefined for more than it may have. Rejects as the request does. */
export async function bytesOf(
  asked: Promise<Response>,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const answer = await asked.catch(ifTooLarge);
  return answer && new Uint8Array(await answer.arrayBuffer());
}

/** Nothing, for an answer that is too large; throws any other error. */
export function ifTooLarge(error: unknown): undefined {
  if (failedCall(error)?.code !== TOO_LARGE) throw error;
}

/** As `fetch`; undefined for an answer of more bytes. Read whole, so that nothing of it is left open. */
async function fetchWhole(
  input: Request | URL | string,
  init: RequestInit & { signal: AbortSignal },
  maxBytes: number,
  ask: typeof fetch = fetch,
): Promise<Response | undefined> {
  const answer = await ask(input, { ...init, redirect: "manual" });
  const bytes = await readBounded(answer, maxBytes, init.signal);
  if (bytes === undefined) return undefined;
  const { status, statusText, headers } = answer;
  const hasNoBody = status === 204 || status === 205 || status === 304;
  return new Response(hasNoBody ? null : bytes, { status, statusText, headers });
}

function isNotPermitted(error: unknown): boolean {
  return error instanceof Deno.errors.NotCapable;
}

/** What the runtime says below the address, which stands before it. */
function reasonOf(error: unknown): string {
  if (isNotPermitted(error)) return ": it is not permitted";
  const { message, cause } = error as Error;
  const words = cause instanceof Error ? cause.message : message;
  const [, reason] = /client error \(\w+\): (.*)$/s.exec(words) ?? [];
  return reason === undefined ? "" : `: ${reason.replace(/\s+/g, " ").slice(0, 200)}`;
}
