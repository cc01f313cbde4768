/**
 * `fetch` for an SDK that neither ends its calls nor reads every answer: with a time, an end and a size.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { fetchWhole, withDeadline } from "../../../lib/channel/platform/mod.ts";

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
      const answer = await fetchWhole(input, { ...init, signal: ending }, maxBytes);
      if (answer === undefined) throw new RangeError(`More than ${maxBytes} bytes came`);
      return answer;
    });
  };
}
