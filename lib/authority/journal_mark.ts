/**
 * What a home knows of its journal outside of the journal's file: that there is one, and how the file
 * looked when it was closed. So a file that is gone is not taken for one that never was, and one that
 * was put back from a backup is not taken for the one that was closed.
 *
 * @module
 */

import type { HomePaths } from "../config/paths.ts";
import { ServiceError } from "../base/errors.ts";
import { fingerprint } from "../state/state_disk.ts";

/** Where it is. */
export function journalMarkOf({ keysDir }: Pick<HomePaths, "keysDir">): string {
  return `${keysDir}/journal.json`;
}

/** The mark of one home. */
export interface JournalMark {
  /** Nobody has changed or replaced the file since this program closed it. */
  readonly isUntouched: boolean;
  /** The journal is open. Never rejects. */
  opened(): Promise<void>;
  /** The journal was closed. Never rejects. */
  closed(): Promise<void>;
}

/**
 * Reads the mark; to be called before the journal is opened. Throws `database_unusable` when the home
 * had a journal whose file is missing or empty, unless a new one is wanted.
 */
export async function openJournalMark(
  paths: Pick<HomePaths, "database" | "keysDir">,
  { newJournal }: { newJournal: boolean },
): Promise<JournalMark> {
  const { database } = paths;
  const path = journalMarkOf(paths);
  // A disk that takes nothing is no reason to stop: then the file counts as touched.
  const write = (value: object) =>
    Deno.writeTextFile(path, JSON.stringify(value), { mode: 0o600 }).catch(() => {});
  const text = await Deno.readTextFile(path).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  });
  const { size } = await Deno.stat(database).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return { size: undefined };
    throw error;
  });
  if (text !== undefined && !size && !newJournal) {
    const what = size === undefined ? "is missing" : "is empty";
    throw new ServiceError(
      "database_unusable",
      `The database "${database}" ${what}, but this home had one. Put it back from a backup, or ` +
        "run once: service gateway --new-journal (begins without its sessions and automations)",
    );
  }
  // Not after the journal is opened: until it is closed in order the file counts as touched.
  if (text !== undefined) await write({});
  return {
    isUntouched: text !== undefined && closedAs(text) === fingerprint(database),
    opened: () => write({}),
    closed: () => write({ closed: fingerprint(database) }),
  };
}

/** Of a mark that was not written whole, nothing. */
function closedAs(text: string): unknown {
  try {
    return JSON.parse(text).closed;
  } catch {
    return undefined;
  }
}
