/**
 * Goes through an archive from where it was left, once, and within bounds.
 *
 * @module
 */

import { StanzaError } from "../client/stanza_error.ts";
import { type ArchiveCursor, readCursor, writeCursor } from "./archive_cursor.ts";
import type { ArchivedMessage, MessageArchive } from "./message_archive.ts";

/** What it works with. */
export interface CatchUpDeps {
  archive: Pick<MessageArchive, "page">;
  /** Undefined for that of the account. */
  room: string | undefined;
  /** As it was kept; undefined for the first time. */
  stored: string | undefined;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Resolves when the messages are on the disk, and with them how far it has come. */
  take: (messages: readonly ArchivedMessage[], cursor: string) => Promise<void>;
}

/** Messages of a page, and pages at most: who was away for longer goes on with what is new. */
export const PAGE_MESSAGES = 50;
export const MAX_PAGES = 60;

/** Resolves with whether everything was read. Rejects with the StanzaError of an archive that is none. */
export async function catchUp(
  { archive, room, stored, now, take }: CatchUpDeps,
): Promise<boolean> {
  const cursor = readCursor(stored);
  if (cursor === undefined) {
    await take([], await firstCursor({ archive, room, now }));
    return true;
  }
  let { id } = cursor;
  let startMs = id === undefined ? cursor.at : undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const query = {
      max: PAGE_MESSAGES,
      ...id !== undefined && { after: id },
      ...startMs !== undefined && { startMs },
    };
    let page;
    try {
      page = await archive.page(room, query);
    } catch (error) {
      const isForgotten = error instanceof StanzaError && error.condition === "item-not-found";
      if (!isForgotten || id === undefined || startMs !== undefined) throw error;
      // The archive has thrown the message away that we have seen last.
      id = undefined;
      startMs = cursor.at + 1;
      continue;
    }
    const { messages, last, isComplete } = page;
    id = last ?? id;
    const at = messages.at(-1)?.sentAt ?? cursor.at;
    await take(messages, writeCursor({ at, ...id !== undefined && { id } }));
    if (isComplete) return true;
  }
  await take([], writeCursor(await lastOf(archive, room, now())));
  return false;
}

/** Where the first start begins: what was said before is none of ours. */
export async function firstCursor(
  { archive, room, now }: Pick<CatchUpDeps, "archive" | "room" | "now">,
): Promise<string> {
  return writeCursor(await lastOf(archive, room, now()));
}

async function lastOf(
  archive: Pick<MessageArchive, "page">,
  room: string | undefined,
  now: number,
): Promise<ArchiveCursor> {
  const { last, messages } = await archive.page(room, { isLast: true, max: 1 });
  return { at: messages.at(-1)?.sentAt ?? now, ...last !== undefined && { id: last } };
}
