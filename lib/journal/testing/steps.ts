/**
 * Steps that the journal's tests share.
 *
 * @module
 */

import {
  type AgentEvent,
  NO_USAGE,
  type StoredEvent,
  type TurnStatus,
} from "../../contract/events.ts";
import type { UserPart } from "../../contract/messages.ts";
import { openJournal } from "../open.ts";
import type { Journal, NewTurn, RequestKey, Turn } from "../../contract/journal.ts";

/** A turn to accept, with an input that says its id. */
export function newTurn(id: string, changes: Partial<NewTurn> = {}): NewTurn {
  return {
    id,
    sessionKey: "test:a",
    channel: "test",
    actor: "test:local",
    input: [{ type: "text", text: `input of ${id}` }],
    durable: false,
    ...changes,
  };
}

/** A request's key, as a caller that sends `body` would use it. */
export function requestKey(key: string, body = "body"): RequestKey {
  return { scope: "someone test:a", key, digest: `digest of ${body}` };
}

/** The hash that stands for a file of one character. Nothing reads the file. */
export function hash(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(64, "0");
}

/** An input with a file for each character. */
export function withFiles(characters: string): UserPart[] {
  return [
    { type: "text", text: `files ${characters}` },
    ...Array.from(characters, (character): UserPart => ({
      type: "image",
      mediaType: "image/png",
      file: { sha256: hash(character), bytes: 1 },
    })),
  ];
}

/** Accepts and starts a turn, and says its `turn_start`. */
export async function begin(
  journal: Journal,
  id: string,
  changes: Partial<NewTurn> = {},
): Promise<Turn> {
  const { turn } = await journal.accept(newTurn(id, changes));
  await journal.start(id);
  await journal.append(id, [{ type: "turn_start", model: "test/model" }]);
  return turn;
}

/** What `Journal.end` is given for a turn that ended like this. */
export function ending(
  status: TurnStatus = "done",
  forget = false,
): Parameters<Journal["end"]>[1] {
  return {
    event: { type: "turn_end", status, finishReason: "stop", usage: NO_USAGE },
    forget,
  };
}

/** A piece of text of the stream `s`. */
export function text(text: string, streamId = "s"): AgentEvent {
  return { type: "text_delta", streamId, text };
}

/** Everything on record of a session's events after a seq. */
export async function replay(
  journal: Journal,
  sessionId: number,
  afterSeq = 0,
): Promise<StoredEvent[]> {
  return await Array.fromAsync(journal.follow(sessionId, { afterSeq, live: false }));
}

/** Runs with a folder that is gone afterwards. */
export async function withFolder(run: (folder: string) => Promise<void> | void): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "journal-test-" });
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * Opens `a.db` of a folder, and deletes a session of it once `fill` is over. Resolves with the journal's path and
 * those of copies, one for each commit of the deletion: what a `kill -9` there would leave.
 */
export async function copiesOfDeletion(
  folder: string,
  sessionKey: string,
  fill: (journal: Journal) => Promise<void>,
): Promise<{ path: string; copies: string[] }> {
  const path = `${folder}/a.db`;
  const copies: string[] = [];
  let copying = false;
  const journal = openJournal({
    path,
    schedule: (flush) =>
      queueMicrotask(() => {
        flush();
        if (!copying) return;
        const copy = `${folder}/copy-${copies.length}.db`;
        crashCopy(path, copy);
        copies.push(copy);
      }),
  });
  await fill(journal);
  copying = true;
  await journal.deleteSession(sessionKey);
  copying = false;
  await journal.close();
  return { path, copies };
}

/** Copies the files of an open journal to where they can be opened as after a `kill -9`. */
export function crashCopy(path: string, to: string): void {
  for (const suffix of ["", "-wal"]) Deno.copyFileSync(path + suffix, to + suffix);
}
