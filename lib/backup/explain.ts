/**
 * Errors of the disk, for people.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";

/** What SQLite says of a file that it can't read, whatever the disk is like. */
const UNUSABLE = /not a database|malformed/;

/** Runs `work`, and says of what fails on the disk what couldn't be done. An abort stays one. */
export async function explain<T>(cannot: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const { name, message } = cause as Error;
    if (cause instanceof ServiceError || name === "AbortError") throw cause;
    const code = /No space left|disk is full/.test(message)
      ? "storage_full"
      : UNUSABLE.test(message)
      ? "database_unusable"
      : "internal";
    throw new ServiceError(code, `${cannot}: ${message}`, {}, { cause });
  }
}
