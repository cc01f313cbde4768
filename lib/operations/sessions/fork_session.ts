import { ServiceError } from "../../base/errors.ts";
import type { Fork, Journal, Session } from "../../contract/journal.ts";

/** Keys that are tried for a fork that nobody named. */
const MAX_TRIES = 1_000;

/** Longest part of the source's key that is taken over, so that the fork's is no longer than one may be. */
const MAX_BASE_CHARS = 120;

/**
 * Forks a session; without a `targetKey` into the first free one of `<source>-2`, `<source>-3`, ….
 * Throws what `Journal.forkSession` throws.
 */
export async function forkSession(
  journal: Pick<Journal, "session" | "forkSession">,
  { targetKey, ...fork }: Omit<Fork, "targetKey"> & { targetKey?: string },
): Promise<Session> {
  if (targetKey !== undefined) return await journal.forkSession({ ...fork, targetKey });
  const base = fork.sourceKey.slice(0, MAX_BASE_CHARS).toWellFormed();
  for (let number = 2; number < MAX_TRIES; number++) {
    const key = `${base}-${number}`;
    if (journal.session(key) !== undefined) continue;
    try {
      return await journal.forkSession({ ...fork, targetKey: key });
    } catch (error) {
      // Somebody else was faster.
      const isTaken = error instanceof ServiceError && error.details.param === "targetKey";
      if (!isTaken) throw error;
    }
  }
  throw new ServiceError(
    "invalid_request",
    `Cannot name the fork of "${fork.sourceKey}": "${base}-2" and those after it exist`,
    { param: "new_key" },
  );
}
