/**
 * One call of a runtime that delivers something, and how it came out.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import { isLoginRefused } from "../channel/delivery_error.ts";

/** How a call came out. */
export type Outcome =
  | { kind: "done" }
  /** A repeat may mend it. */
  | { kind: "failed"; error: string }
  /** The platform says when to come again. */
  | { kind: "later"; error: string; retryAfterMs: number }
  | { kind: "permanent"; error: string }
  /** It may have arrived. */
  | { kind: "uncertain"; error: string };

/** Waits that a platform is believed, milliseconds: nothing waits longer, and nobody is run over. */
export const MAX_RETRY_MS = 24 * 60 * 60 * 1_000;
const MIN_RETRY_MS = 100;

/** Before the next attempt of what a platform did not let in; its channel has ended by then. */
const REFUSED_MS = 5_000;

/** Milliseconds before the next attempt, after so many that have failed: 1, 2, 4, 4 … s (C23). */
export function retryWaitMs(failures: number): number {
  return 1_000 * 2 ** Math.min(Math.max(failures, 1) - 1, 2);
}

/**
 * Makes the call and tells how it came out; never rejects. One that has not been answered after
 * `timeoutMs` is left to itself, so that a runtime that hangs holds nothing up for ever.
 */
export async function attempt(
  call: () => Promise<void>,
  { clock, timeoutMs }: { clock: Pick<Clock, "after">; timeoutMs: number },
): Promise<Outcome> {
  const late = Promise.withResolvers<Outcome>();
  const cancel = clock.after(timeoutMs, () => {
    const error = `The channel gave no answer for ${Math.round(timeoutMs / 1_000)} s`;
    late.resolve({ kind: "uncertain", error });
  });
  try {
    const answered = (async () => await call())().then(
      (): Outcome => ({ kind: "done" }),
      outcomeOf,
    );
    return await Promise.race([answered, late.promise]);
  } finally {
    cancel();
  }
}

/** Told by their names: a package may have its own copy of the errors. */
function outcomeOf(thrown: unknown): Outcome {
  const { name, message, retryAfterMs } =
    (typeof thrown === "object" && thrown !== null ? thrown : { message: String(thrown) }) as {
      name?: unknown;
      message?: unknown;
      retryAfterMs?: unknown;
    };
  const error = typeof message === "string" && message !== "" ? message : "It failed without words";
  if (name === "PermanentDeliveryError") return { kind: "permanent", error };
  if (name === "UncertainDeliveryError") return { kind: "uncertain", error };
  // The token is wrong and not the message: it waits, and costs none of its attempts.
  if (isLoginRefused(thrown)) return { kind: "later", error, retryAfterMs: REFUSED_MS };
  if (name === "RetryLaterError" && typeof retryAfterMs === "number" && retryAfterMs >= 0) {
    const ms = Math.min(Math.max(retryAfterMs, MIN_RETRY_MS), MAX_RETRY_MS);
    return { kind: "later", error, retryAfterMs: ms };
  }
  return { kind: "failed", error };
}
