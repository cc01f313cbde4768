/**
 * The text that is being typed: keys change it, lines show it. It knows no terminal.
 *
 * @module
 */

import { displayWidth } from "../display_width.ts";
import type { Key } from "./keys.ts";
import { type Line, LOOK, type Piece, piece } from "./look.ts";
import type { Block } from "./screen.ts";

/** What a key asks of whoever owns the editor; undefined when it only changed the text. */
export type Asked =
  | "submit"
  | "complete"
  | "interrupt"
  | "end"
  | "clear"
  | "suspend"
  | "escape"
  | "expand";

/** Longest text, characters: what is pasted beyond it is left out. */
const MAX_CHARS = 256 * 1024;

/** Steps that can be undone. */
const MAX_UNDO = 200;

const PROMPT = "> ";
const MORE = "  ";

export class Editor {
  #text = "";
  /** UTF-16 units before the cursor. */
  #at = 0;
  /** Oldest first. */
  readonly #history: string[];
  /** Which entry is shown; undefined for what is being typed, which is `#draft` meanwhile. */
  #shown: number | undefined;
  #draft = "";
  #killed = "";
  #search: { words: string; at: number; before: string } | undefined;
  readonly #undo: { text: string; at: number }[] = [];
  readonly #graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

  constructor(history: readonly string[] = []) {
    this.#history = [...history];
  }

  get text(): string {
    return this.#text;
  }

  /** The text up to the cursor. */
  get before(): string {
    return this.#text.slice(0, this.#at);
  }

  get isSearching(): boolean {
    return this.#search !== undefined;
  }

  /** Puts another text there, the cursor at its end. */
  set(text: string): void {
    this.#change(text, text.length);
    this.#shown = undefined;
  }

  /** Puts a text in place of the last so many characters before the cursor. */
  replaceBefore(chars: number, text: string): void {
    const start = this.#at - chars;
    this.#change(
      this.#text.slice(0, start) + text + this.#text.slice(this.#at),
      start + text.length,
    );
  }

  remember(entry: string): void {
    if (this.#history.at(-1) !== entry) this.#history.push(entry);
  }

  /** Takes a key. */
  key(key: Key): Asked | undefined {
    if (this.#search !== undefined && this.#searchKey(key)) return undefined;
    const { name, text, ctrl, meta, shift } = key;
    if (name === "paste" || text !== "") return this.#insert(text);
    if (name === "return" || name === "enter") {
      // Ctrl-J is a line feed: a new line everywhere, as Alt-Enter and Shift-Enter are.
      if (meta || shift || name === "enter") return this.#insert("\n");
      if (this.before.endsWith("\\") && this.#at === this.#text.length) {
        this.replaceBefore(1, "\n");
        return undefined;
      }
      return "submit";
    }
    if (ctrl) return this.#control(name);
    if (meta) return this.#meta(name);
    switch (name) {
      case "left":
        return this.#move(this.#left());
      case "right":
        return this.#move(this.#right());
      case "home":
        return this.#move(this.#lineStart());
      case "end":
        return this.#move(this.#lineEnd());
      case "up":
        return this.#vertical(-1);
      case "down":
        return this.#vertical(1);
      case "backspace":
        return this.#remove(this.#left(), this.#at);
      case "delete":
        return this.#remove(this.#at, this.#right());
      case "tab":
        return "complete";
      case "escape":
        return "escape";
    }
  }

  /** Rows of at most `width` columns, around the cursor where there are more than `most`. */
  render(width: number, most: number): Block & { cursor: { row: number; column: number } } {
    if (this.#search !== undefined) return this.#searchLine(width);
    const room = Math.max(1, width - PROMPT.length);
    const rows: string[] = [];
    let cursor = { row: 0, column: 0 };
    let start = 0;
    for (const line of this.#text.split("\n")) {
      let row = "";
      let used = 0;
      let at = start;
      for (const { segment } of this.#graphemes.segment(line)) {
        const columns = Math.min(displayWidth(segment), room);
        if (used + columns > room) {
          rows.push(row);
          row = "";
          used = 0;
        }
        if (at === this.#at) cursor = { row: rows.length, column: used };
        row += segment;
        used += columns;
        at += segment.length;
      }
      if (at === this.#at) {
        if (used >= room) {
          rows.push(row);
          row = "";
          used = 0;
        }
        cursor = { row: rows.length, column: used };
      }
      rows.push(row);
      start += line.length + 1;
    }
    const first = Math.max(0, Math.min(cursor.row - most + 1, rows.length - most));
    const shown = rows.slice(first, first + most);
    return {
      lines: shown.map((row, at): Line => [
        piece(first + at === 0 ? PROMPT : MORE, LOOK.heading),
        piece(row),
      ]),
      cursor: { row: cursor.row - first, column: PROMPT.length + cursor.column },
    };
  }

  #control(name: string): Asked | undefined {
    switch (name) {
      case "a":
        return this.#move(this.#lineStart());
      case "e":
        return this.#move(this.#lineEnd());
      case "b":
        return this.#move(this.#left());
      case "f":
        return this.#move(this.#right());
      case "left":
        return this.#move(this.#wordLeft());
      case "right":
        return this.#move(this.#wordRight());
      case "h":
        return this.#remove(this.#left(), this.#at);
      case "d":
        if (this.#text === "") return "end";
        return this.#remove(this.#at, this.#right());
      case "w":
      case "backspace":
        return this.#kill(this.#wordLeft(), this.#at);
      case "u":
        return this.#kill(this.#lineStart(), this.#at);
      case "k":
        return this.#kill(this.#at, this.#lineEnd());
      case "y":
        return this.#insert(this.#killed);
      case "p":
        return this.#vertical(-1);
      case "n":
        return this.#vertical(1);
      case "r":
        this.#search = { words: "", at: this.#history.length, before: this.#text };
        return undefined;
      case "_":
        return this.#undoOne();
      case "c":
        return "interrupt";
      case "l":
        return "clear";
      case "o":
        return "expand";
      case "z":
        return "suspend";
    }
  }

  #meta(name: string): Asked | undefined {
    switch (name) {
      case "b":
      case "left":
        return this.#move(this.#wordLeft());
      case "f":
      case "right":
        return this.#move(this.#wordRight());
      case "d":
        return this.#kill(this.#at, this.#wordRight());
      case "backspace":
        return this.#kill(this.#wordLeft(), this.#at);
    }
  }

  #change(text: string, at: number): void {
    this.#undo.push({ text: this.#text, at: this.#at });
    if (this.#undo.length > MAX_UNDO) this.#undo.shift();
    this.#text = text;
    this.#at = at;
  }

  #insert(text: string): undefined {
    const room = MAX_CHARS - this.#text.length;
    if (text.length > room) text = text.slice(0, room).toWellFormed();
    const whole = this.before + text + this.#text.slice(this.#at);
    this.#change(whole, this.#at + text.length);
  }

  #remove(from: number, to: number): undefined {
    if (from < to) this.#change(this.#text.slice(0, from) + this.#text.slice(to), from);
  }

  #kill(from: number, to: number): undefined {
    if (from < to) this.#killed = this.#text.slice(from, to);
    this.#remove(from, to);
  }

  #undoOne(): undefined {
    const last = this.#undo.pop();
    if (last !== undefined) {
      this.#text = last.text;
      this.#at = last.at;
    }
  }

  #move(at: number): undefined {
    this.#at = at;
  }

  #left(): number {
    let last = 0;
    // A grapheme is never longer than this, so a long text is not gone through whole.
    const from = Math.max(0, this.#at - 64);
    for (const { index } of this.#graphemes.segment(this.#text.slice(from, this.#at))) last = index;
    return this.#at === 0 ? 0 : from + last;
  }

  #right(): number {
    const [next] = this.#graphemes.segment(this.#text.slice(this.#at, this.#at + 64));
    return this.#at + (next?.segment.length ?? 0);
  }

  #lineStart(): number {
    return this.#text.lastIndexOf("\n", this.#at - 1) + 1;
  }

  #lineEnd(): number {
    const end = this.#text.indexOf("\n", this.#at);
    return end < 0 ? this.#text.length : end;
  }

  #wordLeft(): number {
    return this.before.search(/\S+\s*$/u) < 0 ? 0 : this.before.search(/\S+\s*$/u);
  }

  #wordRight(): number {
    return this.#at + /^\s*\S*/u.exec(this.#text.slice(this.#at))![0].length;
  }

  /** Another line of the text, or beyond it another entry of the history. */
  #vertical(step: -1 | 1): undefined {
    const start = this.#lineStart();
    const column = this.#at - start;
    if (step === -1 && start > 0) {
      const above = this.#text.lastIndexOf("\n", start - 2) + 1;
      return this.#move(Math.min(above + column, start - 1));
    }
    const end = this.#lineEnd();
    if (step === 1 && end < this.#text.length) {
      const next = this.#text.indexOf("\n", end + 1);
      return this.#move(Math.min(end + 1 + column, next < 0 ? this.#text.length : next));
    }
    const from = this.#shown ?? this.#history.length;
    const to = from + step;
    if (to < 0 || to > this.#history.length || from === to) return;
    if (this.#shown === undefined) {
      if (step === 1) return;
      this.#draft = this.#text;
    }
    const isDraft = to === this.#history.length;
    const text = isDraft ? this.#draft : this.#history[to]!;
    this.#change(text, text.length);
    this.#shown = isDraft ? undefined : to;
  }

  /** A key while the history is searched; false when it ended that and is still to be done. */
  #searchKey({ name, text, ctrl }: Key): boolean {
    const search = this.#search!;
    if (ctrl && name === "r") return this.#find(search.at - 1);
    if (ctrl && (name === "c" || name === "g") || name === "escape") {
      this.#text = search.before;
      this.#at = this.#text.length;
      this.#search = undefined;
      return true;
    }
    if (name === "backspace") {
      search.words = search.words.slice(0, -1);
      return this.#find(this.#history.length - 1);
    }
    if (text !== "") {
      search.words += text;
      return this.#find(Math.min(search.at, this.#history.length - 1));
    }
    this.#search = undefined;
    // Enter takes the entry, and does not send it: it is looked at first.
    return name === "return" || name === "tab";
  }

  #find(from: number): true {
    const search = this.#search!;
    for (let at = from; at >= 0; at--) {
      if (!this.#history[at]!.toLowerCase().includes(search.words.toLowerCase())) continue;
      search.at = at;
      this.#text = this.#history[at]!;
      this.#at = this.#text.length;
      break;
    }
    return true;
  }

  #searchLine(width: number): Block & { cursor: { row: number; column: number } } {
    const { words } = this.#search!;
    const head = "history: ";
    const line: Piece[] = [piece(head, LOOK.heading), piece(words), piece("  ")];
    const found = this.#text.replaceAll("\n", " ");
    const column = Math.min(width, displayWidth(head + words));
    let room = width - displayWidth(head + words) - 2;
    let shown = "";
    for (const char of found) {
      room -= displayWidth(char);
      if (room < 0) break;
      shown += char;
    }
    return { lines: [[...line, piece(shown, LOOK.dim)]], cursor: { row: 0, column } };
  }
}
