/**
 * What removes data by age and size: each kind of data is one store that lists what may go.
 *
 * @module
 */

/** Something that retention may remove: a session, a file. */
export interface Removable {
  /** Unique in its store: the key of a session, the name of a file. */
  name: string;
  /** About how much room it takes. */
  bytes: number;
  /** When it was last used, milliseconds since 1970. */
  at: number;
}

/** Some of them, the oldest first. */
export interface RemovablePage {
  items: Removable[];
  /** Cursor of the next page; absent when this is the last one. */
  after?: string;
}

/** One kind of data. What something still needs is never listed, and never removed. */
export interface RetentionStore {
  /** Room that all of it takes, what cannot go included. */
  usedBytes(): Promise<number>;
  /** The first page, or the one at a cursor. */
  page(after?: string): Promise<RemovablePage>;
  /**
   * Parts what only goes as a whole, such as a file that is written to, where it holds something of before
   * so many milliseconds. Absent where nothing has to be parted.
   */
  split?(afterMs: number): Promise<void>;
  /** Removes those that are as they were listed and that nothing needs now; which ones went. */
  remove(items: readonly Removable[]): Promise<Removable[]>;
}

/** The kinds of data that retention knows, in the order in which they are looked at. */
export const RETENTION_KINDS = ["sessions", "media", "audit", "logs", "backups"] as const;

/** One of them. */
export type RetentionKind = typeof RETENTION_KINDS[number];

/** What of one kind was removed, or would be. */
export interface PrunedKind {
  kind: RetentionKind;
  count: number;
  bytes: number;
  /** Of the first ones; there may be more. */
  names: string[];
  /** Why no more was removed. */
  error?: string;
}

/** What was removed of each kind that has a limit. */
export type PruneReport = PrunedKind[];

/** How retention is asked to remove what is over its limits now. */
export interface PruneRequest {
  /** Only find out. */
  dryRun: boolean;
  /** Who asks, for the audit log. */
  by: string;
}
