/**
 * One gateway has a journal at a time: one whose launcher was killed ends by itself, a moment after the
 * home's own lock is free.
 *
 * @module
 */

import { ServiceError } from "../../base/errors.ts";

const TIMEOUT_MS = 10_000;

/** Waits for the journal; it is held until this process or Worker ends. Throws `database_unusable`. */
export async function holdJournal(database: string): Promise<void> {
  const path = `${database}.lock`;
  const file = await Deno.open(path, { write: true, create: true, mode: 0o600 });
  const giveUpAt = performance.now() + TIMEOUT_MS;
  while (!await file.tryLock(true)) {
    if (performance.now() > giveUpAt) {
      file.close();
      throw new ServiceError(
        "database_unusable",
        `Another process has the database "${database}" open and does not end: stop it first`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
