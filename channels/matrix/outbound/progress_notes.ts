/**
 * What the agent is doing, in one notice for a turn: clients notify nobody of it. It is edited as the turn
 * goes on, and says in the end how much was done.
 *
 * @module
 */

import type { Clock } from "../../../lib/agent/clock.ts";
import type { Memory } from "../../../lib/channel/platform/memory.ts";
import type { OutboundMessage } from "../../../lib/channel/outbound_message.ts";
import { sleep } from "../sync/sleep.ts";
import { editContent, partsOf, textContent } from "../text/message_content.ts";
import { fill, type MatrixWords } from "../words.ts";
import type { RoomWriter } from "./room_writer.ts";
import type { Transactions } from "./transactions.ts";

/** What notes are shown with. */
export interface ProgressNotesDeps {
  writer: RoomWriter;
  transactions: Transactions;
  /** So that a note of a process that was killed is closed by the next. */
  memory: Pick<Memory, "get" | "set" | "delete">;
  words: MatrixWords;
  clock: Pick<Clock, "after" | "elapsed">;
  /** Least time between two edits of a note, milliseconds. */
  everyMs: number;
  signal: AbortSignal;
}

interface Note {
  eventId: string;
  steps: number;
}

const MAX_CHATS = 1_000;

/** See the module. */
export class ProgressNotes {
  readonly #deps: ProgressNotesDeps;
  readonly #lastMs = new Map<string, number>();

  constructor(deps: ProgressNotesDeps) {
    this.#deps = deps;
  }

  /** Shows what is done now, instead of what was done before. Rejects as a send does. */
  async show({ chatId, content }: Pick<OutboundMessage, "chatId" | "content">): Promise<void> {
    const { writer, transactions, memory, clock, everyMs, signal } = this.#deps;
    const [text] = partsOf(content);
    if (text === undefined) return;
    const { roomId, threadId } = writer.placeOf(chatId);
    const lastMs = this.#lastMs.get(chatId);
    const leftMs = lastMs === undefined ? 0 : lastMs + everyMs - clock.elapsed();
    if (leftMs > 0) await sleep(clock, leftMs, signal);
    signal.throwIfAborted();
    this.#touch(chatId);
    const note = memory.get<Note>("note", chatId);
    const isNew = note === undefined;
    const event = isNew
      ? textContent(text, "m.notice", threadId === undefined ? {} : { threadId })
      : editContent(note.eventId, text, "m.notice");
    const made = await writer.send(roomId, "m.room.message", event, transactions.newId());
    memory.set("note", chatId, {
      eventId: isNew ? made : note.eventId,
      steps: (note?.steps ?? 0) + 1,
    });
  }

  /** The turn has ended. Never rejects: a note that stays as it is hurts nobody. */
  async end(chatId: string): Promise<void> {
    const { writer, transactions, memory, words } = this.#deps;
    this.#lastMs.delete(chatId);
    const note = memory.get<Note>("note", chatId);
    if (note === undefined) return;
    memory.delete("note", chatId);
    try {
      const { roomId } = writer.placeOf(chatId);
      const text = fill(words.steps, { count: note.steps });
      const event = editContent(note.eventId, text, "m.notice");
      await writer.send(roomId, "m.room.message", event, transactions.newId());
    } catch {
      // See above.
    }
  }

  #touch(chatId: string): void {
    this.#lastMs.delete(chatId);
    this.#lastMs.set(chatId, this.#deps.clock.elapsed());
    if (this.#lastMs.size > MAX_CHATS) this.#lastMs.delete(this.#lastMs.keys().next().value!);
  }
}
