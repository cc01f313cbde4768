/**
 * What the agent is doing: one silent message of a turn, which changes as the turn goes on and is gone at
 * its end. Nothing of it is worth a retry.
 *
 * @module
 */

import type { Clock } from "../../../lib/agent/clock.ts";
import { toTelegramHtml } from "../text/to_telegram_html.ts";
import { isGroup, parseChat } from "./chat_place.ts";
import type { Chats } from "./chats.ts";
import type { Removals } from "./removals.ts";
import { editText, sendText, type SentMessage } from "./send_text.ts";

/** Characters of a note. */
const MAX_CHARS = 300;

/** Notes of turns that are at work. */
const MAX_NOTES = 1_000;

/** What notes are shown with. */
export interface StatusNotesDeps {
  chats: Chats;
  removals: Removals;
  clock: Pick<Clock, "elapsed" | "after">;
  signal: AbortSignal;
  /** Least time between two changes of a note, milliseconds. */
  everyMs: (chatId: string) => number;
}

interface Note {
  /** What is to be shown. */
  text: string;
  shown: string;
  lastMs: number;
  message?: SentMessage;
  /** Under way. */
  showing?: Promise<void>;
  cancel?: () => void;
}

/** See the module. */
export class StatusNotes {
  readonly #deps: StatusNotesDeps;
  readonly #notes = new Map<string, Note>();

  constructor(deps: StatusNotesDeps) {
    this.#deps = deps;
  }

  /** Shows it, at once or when the chat may be written to again; what comes meanwhile takes its place. */
  show(chatId: string, turn: string, markdown: string): void {
    const text = markdown.trim().slice(0, MAX_CHARS).toWellFormed();
    if (text === "") return;
    const key = keyOf(chatId, turn);
    let note = this.#notes.get(key);
    if (note === undefined) {
      this.#notes.set(key, note = { text, shown: "", lastMs: -Infinity });
      if (this.#notes.size > MAX_NOTES) this.#drop(this.#notes.keys().next().value!);
    }
    note.text = text;
    this.#plan(chatId, key, note);
  }

  /** The turn is over. Resolves when it was tried to take its note away; never rejects. */
  async end(chatId: string, turn: string): Promise<void> {
    const key = keyOf(chatId, turn);
    const note = this.#notes.get(key);
    this.#drop(key);
    await note?.showing;
    if (note?.message !== undefined) await this.#deps.removals.remove(note.message);
  }

  /** Shows nothing any more; what is shown goes when the next process starts. */
  async close(): Promise<void> {
    const notes = [...this.#notes.values()];
    for (const key of this.#notes.keys()) this.#drop(key);
    await Promise.all(notes.map(({ showing }) => showing));
  }

  #drop(key: string): void {
    const note = this.#notes.get(key);
    note?.cancel?.();
    this.#notes.delete(key);
  }

  #plan(chatId: string, key: string, note: Note): void {
    if (note.cancel !== undefined || note.showing !== undefined || note.text === note.shown) return;
    const { clock, everyMs } = this.#deps;
    const leftMs = note.lastMs + everyMs(chatId) - clock.elapsed();
    if (leftMs <= 0) return this.#show(chatId, key, note);
    note.cancel = clock.after(leftMs, () => {
      note.cancel = undefined;
      this.#show(chatId, key, note);
    });
  }

  #show(chatId: string, key: string, note: Note): void {
    const { clock } = this.#deps;
    note.lastMs = clock.elapsed();
    note.showing = this.#call(chatId, note)
      // The next note is another try.
      .catch(() => {})
      .finally(() => {
        note.showing = undefined;
        if (this.#notes.get(key) === note) this.#plan(chatId, key, note);
      });
  }

  async #call(chatId: string, note: Note): Promise<void> {
    const { chats, removals, signal } = this.#deps;
    const { text } = note;
    note.shown = text;
    const html = toTelegramHtml(text);
    if (note.message !== undefined) {
      return await editText(chats, note.message, { html }, { signal });
    }
    note.message = await sendText(chats, parseChat(chatId), { html }, { isSilent: true, signal });
    removals.keep(note.message);
  }
}

/** The turns of a chat are told apart by the message that each answers. */
function keyOf(chatId: string, turn: string): string {
  return `${chatId} ${turn}`;
}

/** How often a chat may be written to: one message a second, 20 a minute in groups (Bot FAQ). */
export function everyMsIn(chatId: string): number {
  return isGroup(chatId) ? 3_000 : 1_000;
}
