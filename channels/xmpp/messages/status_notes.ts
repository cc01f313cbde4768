/**
 * What the agent is doing, in the form that XMPP has for it: the status of a presence, which goes to the
 * chat alone, notifies nobody and is kept nowhere.
 *
 * @module
 */

import type { Clock } from "../../../lib/agent/clock.ts";
import { toPlainText } from "../../../lib/channel/markdown/mod.ts";
import { xml, type XmlElement } from "../client/xmpp_library.ts";
import { cleanXmlText } from "../text/to_styling.ts";

/** What it works with. */
export interface StatusNotesDeps {
  clock: Pick<Clock, "after">;
  /** Sends a presence to a chat; nothing where that cannot be. */
  post: (chatId: string, children: readonly XmlElement[]) => void;
}

/** Least time between two for a chat, milliseconds. */
const EVERY_MS = 3_000;

const MAX_CHARS = 120;
const MAX_CHATS = 1_000;

interface Note {
  /** To be shown when the time has come. */
  next: string | undefined;
  isShown: boolean;
  cancel: (() => void) | undefined;
}

/** See the module. */
export class StatusNotes {
  readonly #deps: StatusNotesDeps;
  readonly #notes = new Map<string, Note>();

  constructor(deps: StatusNotesDeps) {
    this.#deps = deps;
  }

  /** Shows a line; the newest takes the place of what could not be shown yet. */
  show(chatId: string, markdown: string): void {
    const line = cleanXmlText(toPlainText(markdown)).replace(/\s+/g, " ").trim();
    if (line === "") return;
    const text = line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS - 1)}…` : line;
    const note = this.#notes.get(chatId) ?? { next: undefined, isShown: false, cancel: undefined };
    if (!this.#notes.has(chatId)) {
      this.#notes.set(chatId, note);
      if (this.#notes.size > MAX_CHATS) this.clear(this.#notes.keys().next().value!);
    }
    note.next = text.toWellFormed();
    if (note.cancel === undefined) this.#show(chatId, note);
  }

  /** Takes it back. */
  clear(chatId: string): void {
    const note = this.#notes.get(chatId);
    if (note === undefined) return;
    note.cancel?.();
    this.#notes.delete(chatId);
    if (note.isShown) this.#deps.post(chatId, []);
  }

  close(): void {
    for (const { cancel } of this.#notes.values()) cancel?.();
    this.#notes.clear();
  }

  #show(chatId: string, note: Note): void {
    const text = note.next;
    note.next = note.cancel = undefined;
    if (text === undefined) return;
    note.isShown = true;
    this.#deps.post(chatId, [xml("show", {}, "dnd"), xml("status", {}, text)]);
    note.cancel = this.#deps.clock.after(EVERY_MS, () => {
      note.cancel = undefined;
      this.#show(chatId, note);
    });
  }
}
