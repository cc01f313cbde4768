/**
 * Messages that were not accepted yet, kept over a reload of their tab. Each has its id, by which the
 * service knows a repeat. Their files are in the browser's database, which holds more than its storage.
 *
 * @module
 */

import { keep, kept } from "../storage.ts";

/** A message on its way. */
export interface Unsent {
  chatId: string;
  /** `client_msg_id`. */
  id: string;
  text: string;
  /** Key of its files, if it has any. */
  files?: number;
}

const NAME = "service.unsent";
const STORE = "files";

/** Messages whose files are kept at most, and for how long: those of a tab that was closed are left behind. */
const MAX_WITH_FILES = 8;
const KEPT_MS = 24 * 60 * 60 * 1_000;

/** Those that are kept, oldest first. */
export function unsentMessages(): Unsent[] {
  try {
    return JSON.parse(kept(NAME, sessionStorage) ?? "[]");
  } catch {
    return [];
  }
}

/** Keeps one; one whose files can't be kept is not kept either. */
export async function keepUnsent(
  message: Omit<Unsent, "files">,
  files: readonly File[],
): Promise<void> {
  const key = files.length === 0 ? undefined : Date.now() + Math.random();
  if (key !== undefined) {
    if (await withFiles((store) => store.put(files, key)) === undefined) return;
    const keys = await withFiles((store) => store.getAllKeys()) as number[];
    const oldest = Math.max(Date.now() - KEPT_MS, keys.at(-MAX_WITH_FILES) ?? 0);
    await withFiles((store) => store.delete(IDBKeyRange.upperBound(oldest, true)));
  }
  const others = unsentMessages().filter(({ id }) => id !== message.id);
  const entry: Unsent = { ...message, ...key !== undefined && { files: key } };
  keep(NAME, JSON.stringify([...others, entry]), sessionStorage);
}

/** The files of one; undefined where they are gone. */
export async function filesOf({ files: key }: Unsent): Promise<File[] | undefined> {
  return key === undefined ? [] : await withFiles<File[]>((store) => store.get(key));
}

/** It is accepted, or refused for good. */
export async function forgetUnsent(id: string): Promise<void> {
  const key = unsentMessages().find((each) => each.id === id)?.files;
  if (key !== undefined) await withFiles((store) => store.delete(key));
  keep(NAME, JSON.stringify(unsentMessages().filter((each) => each.id !== id)), sessionStorage);
}

/** Asks the database once; undefined where there is none, or where it is full. */
async function withFiles<T>(ask: (store: IDBObjectStore) => IDBRequest<T>): Promise<T | undefined> {
  try {
    const opening = indexedDB.open(NAME);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    const db = await settled(opening);
    const answer = settled(ask(db.transaction(STORE, "readwrite").objectStore(STORE)));
    return await answer.finally(() => db.close());
  } catch {
    return undefined;
  }
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
