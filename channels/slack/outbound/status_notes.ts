/**
 * What the agent is doing, as one quiet line of each chat that changes, and goes when the turn ends.
 *
 * @module
 */

import type { Clock } from "../../../lib/agent/clock.ts";
import { RetryLaterError } from "../../../lib/channel/delivery_error.ts";
import type { Memory } from "../../../lib/channel/platform/memory.ts";
import type { SlackMessages, SlackRef } from "./slack_messages.ts";

/** What it works with. */
export interface StatusNotesDeps {
  messages: Pick<SlackMessages, "postNote" | "updateNote" | "remove">;
  /** Keeps which line is whose: those of a process that was killed go with the next turn's end. */
  memory: Memory;
  clock: Pick<Clock, "elapsed" | "after">;
  /** Least time between two changes of a line, milliseconds. */
  everyMs: number;
}

interface Note {
  text: string;
  /** What Slack was told last. */
  shown: string;
  lastMs: number;
  /** Ends the wait for the next change. */
  cancel?: () => void;
  /** The call that is under way. */
  calling: Promise<void>;
}

const KIND = "status";

/** Chats whose lines are known; of more, the oldest line stays as it is until its turn ends. */
const MAX_NOTES = 500;

/** See the module. */
export class StatusNotes {
  readonly #deps: StatusNotesDeps;
  readonly #notes = new Map<string, Note>();
  #isClosed = false;

  constructor(deps: StatusNotesDeps) {
    this.#deps = deps;
  }

  /** Shows a line, now or when the time has come; the newest counts. Rejects as Slack refuses. */
  async show(chatId: string, text: string): Promise<void> {
    const { clock, everyMs } = this.#deps;
    const note = this.#notes.get(chatId) ??
      { text, shown: "", lastMs: -Infinity, calling: Promise.resolve() };
    note.text = text;
    this.#notes.set(chatId, note);
    if (this.#notes.size > MAX_NOTES) this.#forget(this.#notes.keys().next().value!);
    const leftMs = note.lastMs + everyMs - clock.elapsed();
    if (note.cancel !== undefined) return;
    if (leftMs > 0) {
      note.cancel = clock.after(leftMs, () => {
        note.cancel = undefined;
        // Nobody waits for it, and the next line is tried anyway.
        this.#write(chatId, note).catch(() => {});
      });
      return;
    }
    await this.#write(chatId, note);
  }

  /** The turn has ended: the line goes. Rejects where Slack wants it later. */
  async clear(chatId: string): Promise<void> {
    const { messages, memory } = this.#deps;
    const note = this.#notes.get(chatId);
    this.#forget(chatId);
    await note?.calling.catch(() => {});
    const ref = memory.get<SlackRef>(KIND, chatId);
    if (ref === undefined) return;
    try {
      await messages.remove(ref);
    } catch (error) {
      // It is tried once more then, and the line is known still.
      if (error instanceof RetryLaterError) throw error;
    }
    memory.delete(KIND, chatId);
  }

  /** Ends every wait. Lines stay where they are. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const calls = [...this.#notes.values()].map(({ calling }) => calling.catch(() => {}));
    for (const chatId of [...this.#notes.keys()]) this.#forget(chatId);
    await Promise.all(calls);
  }

  #forget(chatId: string): void {
    this.#notes.get(chatId)?.cancel?.();
    this.#notes.delete(chatId);
  }

  #write(chatId: string, note: Note): Promise<void> {
    const before = note.calling.catch(() => {});
    return note.calling = before.then(() => this.#call(chatId, note));
  }

  async #call(chatId: string, note: Note): Promise<void> {
    const { messages, memory, clock } = this.#deps;
    const { text } = note;
    // It may have been cleared since.
    if (this.#isClosed || this.#notes.get(chatId) !== note || note.shown === text) return;
    note.lastMs = clock.elapsed();
    const ref = memory.get<SlackRef>(KIND, chatId);
    if (ref === undefined) memory.set(KIND, chatId, await messages.postNote(chatId, text));
    else await messages.updateNote(ref, text);
    note.shown = text;
  }
}
