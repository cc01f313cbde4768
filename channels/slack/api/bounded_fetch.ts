/**
 * `fetch` for an SDK that neither ends its calls nor reads every answer: with a time, an end and a size.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { readBounded, withDeadline } from "../../../lib/channel/platform/mod.ts";

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

/** The function. Rejects with a RangeError for an answer that is too large. */
export function boundedFetch(
  { signal, timeoutMs, clock, maxBytes = MAX_ANSWER_BYTES }: BoundedFetchDeps,
): typeof fetch {
  return async (input, init) => {
    signal.throwIfAborted();
    const late = () => new Error("It took too long");
    return await withDeadline({ timeoutMs, late, signal, clock }, async (ending) => {
      // Redirects are not followed: a token would go along.
      const response = await fetch(input, { ...init, redirect: "manual", signal: ending });
      const bytes = await readBounded(response, maxBytes, ending);
      if (bytes === undefined) throw new RangeError(`More than ${maxBytes} bytes came`);
      const { status, statusText, headers } = response;
      return new Response(isBodiless(status) ? null : bytes, {
        status: status === 0 ? 502 : status,
        statusText,
        headers,
      });
    });
  };
}

function isBodiless(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}
