/**
 * Lines of at most so many columns.
 *
 * @module
 */

import { displayWidth } from "../display_width.ts";
import { sanitize } from "../output.ts";
import { type Line, LOOK, type Look, type Piece } from "./look.ts";

const TAB = "    ";

/** Columns of a line. */
export function lineWidth(line: Line): number {
  return line.reduce((sum, { text }) => sum + displayWidth(text), 0);
}

/** What is not broken: characters of a word, or a blank, or one wide character. */
interface Atom extends Piece {
  width: number;
  kind: "blank" | "break" | "text";
  /** It belongs to the word before it. */
  joins: boolean;
}

/**
 * Breaks at blanks and beside wide characters, and inside of a word that has no room. An indentation is that
 * of all rows of its line; blanks at which a row was broken go.
 */
export function wordWrap(line: Line, width: number): Line[] {
  const rows = new Rows(width);
  let blank: Piece | undefined;
  let isStart = true;
  for (const word of wordsOf(line)) {
    const [first] = word;
    if (first!.kind === "break") {
      rows.next();
      blank = undefined;
      isStart = true;
      continue;
    }
    if (first!.kind === "blank") {
      blank = { text: (blank?.text ?? "") + first!.text, look: first!.look };
      continue;
    }
    const columns = word.reduce((sum, atom) => sum + atom.width, 0);
    const gap = blank?.text.length ?? 0;
    if (isStart) rows.indentBy(gap);
    else if (rows.used + gap + columns > width) rows.wrap();
    else if (blank !== undefined) rows.put(blank.text, blank.look);
    for (const { text, look } of word) rows.putBroken(text, look);
    blank = undefined;
    isStart = false;
  }
  return rows.end();
}

/** Breaks where a row is full, and keeps every blank. */
export function hardWrap(line: Line, width: number): Line[] {
  const rows = new Rows(width);
  for (const { text, look } of line) {
    for (const [at, part] of clean(text).split("\n").entries()) {
      if (at > 0) rows.next();
      rows.putBroken(part, look);
    }
  }
  return rows.end();
}

function wordsOf(line: Line): Atom[][] {
  const words: Atom[][] = [];
  let joins = false;
  for (const { text, look } of line) {
    for (const part of clean(text).match(/\n|[ ]+|[^ \n]+/g) ?? []) {
      if (part === "\n" || part.startsWith(" ")) {
        words.push([{
          text: part,
          look,
          width: 1,
          kind: part === "\n" ? "break" : "blank",
          joins,
        }]);
        joins = false;
        continue;
      }
      for (const run of runsOf(part)) {
        const width = displayWidth(run);
        const atom: Atom = { text: run, look, width, kind: "text", joins };
        const isWide = width > run.length;
        if (joins && !isWide) words.at(-1)!.push(atom);
        else words.push([atom]);
        joins = !isWide;
      }
    }
  }
  return words;
}

/** Wide characters each, and what is between them. */
function runsOf(word: string): string[] {
  if (displayWidth(word) <= word.length) return [word];
  const runs: string[] = [];
  let narrow = "";
  for (const char of word) {
    const columns = displayWidth(char);
    if (columns === 2) {
      if (narrow !== "") runs.push(narrow);
      narrow = "";
      runs.push(char);
    } else if (columns === 0 && narrow === "" && runs.length > 0) {
      runs[runs.length - 1] += char;
    } else narrow += char;
  }
  return narrow === "" ? runs : [...runs, narrow];
}

function clean(text: string): string {
  return sanitize(text).replaceAll("\t", TAB);
}

class Rows {
  readonly #width: number;
  readonly #rows: Piece[][] = [[]];
  /** Columns that each row of the line begins with. */
  #indent = 0;
  used = 0;

  constructor(width: number) {
    this.#width = width;
  }

  /** Begins another line. */
  next(): void {
    this.#rows.push([]);
    this.#indent = 0;
    this.used = 0;
  }

  /** Goes on with the line in another row. */
  wrap(): void {
    if (this.used <= this.#indent) return;
    const indent = this.#indent;
    this.next();
    this.indentBy(indent);
  }

  indentBy(columns: number): void {
    // Half of the row and a wide character stay for the text.
    this.#indent = Math.max(0, Math.min(columns, Math.floor(this.#width / 2), this.#width - 2));
    this.put(" ".repeat(this.#indent), LOOK.plain);
  }

  put(text: string, look: Look): void {
    const row = this.#rows.at(-1)!;
    const last = row.at(-1);
    if (last?.look === look) last.text += text;
    else if (text !== "") row.push({ text, look });
    this.used += displayWidth(text);
  }

  putBroken(text: string, look: Look): void {
    if (this.used + displayWidth(text) <= this.#width) return this.put(text, look);
    for (const char of text) {
      const columns = displayWidth(char);
      if (this.used + columns > this.#width) this.wrap();
      this.put(char, look);
    }
  }

  end(): Line[] {
    return this.#rows;
  }
}
