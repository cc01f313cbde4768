/**
 * What the agent is doing, in one notice for a turn: clients notify nobody of it. It is edited as the turn
 * goes on, and says in the end how much was done.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import type { Memory } from "../../../lib/channel/platform/memory.ts";
import { StatusNotes } from "../../../lib/channel/platform/status_notes.ts";
import { editContent, textContent } from "../text/message_content.ts";
import type { Words } from "../words.ts";
import type { RoomWriter } from "./room_writer.ts";
import type { Transactions } from "./transactions.ts";

/** What notes are shown with. */
export interface ProgressNotesDeps {
  writer: RoomWriter;
  transactions: Transactions;
  /** So that a note of a process that was killed is closed by the next. */
  memory: Pick<Memory, "entries" | "set" | "delete">;
  words: Words;
  clock: Pick<Clock, "after" | "elapsed">;
  /** Least time between two edits of a note, milliseconds. */
  everyMs: number;
}

interface Note {
  chatId: string;
  eventId: string;
}

/** The notes of a runtime. */
export function createProgressNotes(
  { writer, transactions, memory, words, clock, everyMs }: ProgressNotesDeps,
): StatusNotes<Note> {
  async function edit({ chatId, eventId }: Note, text: string): Promise<void> {
    const { roomId } = writer.placeOf(chatId);
    const event = editContent(eventId, text, "m.notice");
    await writer.send(roomId, "m.room.message", event, transactions.newId());
  }

  async function post(chatId: string, text: string): Promise<Note> {
    const { roomId, threadId } = writer.placeOf(chatId);
    const event = textContent(text, "m.notice", threadId === undefined ? {} : { threadId });
    const txnId = transactions.newId();
    return { chatId, eventId: await writer.send(roomId, "m.room.message", event, txnId) };
  }

  return new StatusNotes<Note>({
    post,
    edit,
    remove: (note, texts) => edit(note, words("steps", { count: texts })),
    memory,
    clock,
    everyMs: () => everyMs,
  });
}
