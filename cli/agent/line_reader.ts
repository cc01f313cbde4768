/**
 * Reads lines from a terminal with editing and history.
 *
 * `node:readline` edits; this gives it what the terminal sends, in raw mode, only while a line is
 * being read. In between the terminal is its normal self, so that Ctrl-C is a signal again, and what
 * is typed meanwhile waits for the next line.
 *
 * @module
 */

import process from "node:process";
import { createInterface, type Interface } from "node:readline";
import { PassThrough } from "node:stream";
import { LINE_MARK, PasteFilter } from "./paste_filter.ts";

/** What reading a line ended with. */
export type Line =
  | { kind: "line"; text: string }
  /** Ctrl-C; `text` is what stood in the line. */
  | { kind: "interrupt"; text: string }
  /** `abandon` was called. */
  | { kind: "abandoned" }
  /** Ctrl-D in an empty line, or the terminal is gone. */
  | { kind: "end" };

/** Reads lines one after another. */
export type LineReader = Pick<TerminalReader, keyof TerminalReader>;

/** Most entries behind the arrow keys. */
const HISTORY_SIZE = 500;

const PASTE_ON = "\x1b[?2004h";
const PASTE_OFF = "\x1b[?2004l";

/**
 * A reader of this process's terminal: keys from standard input, the line on standard error, so that
 * standard output has the answers alone. `history` is oldest first.
 */
export function terminalReader(history: readonly string[]): LineReader {
  return new TerminalReader(history);
}

class TerminalReader {
  readonly #input = new PassThrough();
  readonly #editor: Interface & { history: string[] };
  /** The editor adds every line on Enter; what belongs there is decided by whoever reads the lines. */
  readonly #remembered: string[];
  #waiting: ((line: Line) => void) | undefined;
  #ended = false;
  #awake = Promise.withResolvers<void>();

  constructor(history: readonly string[]) {
    const editor = this.#editor = createInterface({
      input: this.#input,
      output: process.stderr,
      terminal: true,
      historySize: HISTORY_SIZE,
      history: history.map(fold).toReversed(),
      // A lone ESC is a key after this time; the start of a sequence before.
      escapeCodeTimeout: 50,
    }) as Interface & { history: string[] };
    this.#remembered = [...editor.history];
    editor.on("line", (text: string) => this.#settle({ kind: "line", text: unfold(text) }));
    editor.on("SIGINT", () => {
      const text = unfold(editor.line);
      this.#emptyLine();
      this.#settle({ kind: "interrupt", text });
    });
    editor.on("close", () => {
      this.#ended = true;
      this.#settle({ kind: "end" });
    });
    void this.#pump();
  }

  /** Never two at once. */
  read(prompt: string): Promise<Line> {
    if (this.#ended) return Promise.resolve({ kind: "end" });
    return new Promise((resolve) => {
      this.#waiting = resolve;
      setRaw(true);
      this.#editor.setPrompt(prompt);
      this.#editor.prompt();
      this.#awake.resolve();
      this.#awake = Promise.withResolvers();
    });
  }

  /** Ends a read that is under way; what stood in the line is dropped. */
  abandon(): void {
    if (this.#waiting === undefined) return;
    this.#emptyLine();
    process.stderr.write("\n");
    this.#settle({ kind: "abandoned" });
  }

  /** Puts what was said into the history of the arrow keys. */
  remember(entry: string): void {
    const remembered = this.#remembered;
    const folded = fold(entry);
    if (remembered[0] !== folded) remembered.unshift(folded);
    remembered.length = Math.min(remembered.length, HISTORY_SIZE);
    this.#restoreHistory();
  }

  /** Gives the terminal back. */
  close(): void {
    if (this.#waiting !== undefined) setRaw(false);
    this.#ended = true;
    this.#editor.close();
  }

  #settle(line: Line): void {
    const settled = this.#waiting;
    if (settled === undefined) return;
    this.#waiting = undefined;
    setRaw(false);
    this.#restoreHistory();
    settled(line);
  }

  #restoreHistory(): void {
    this.#editor.history.splice(0, Infinity, ...this.#remembered);
  }

  /** Goes to the end of the line on the screen and empties it. */
  #emptyLine(): void {
    this.#editor.write(null, { ctrl: true, name: "e" });
    this.#editor.write(null, { ctrl: true, name: "u" });
  }

  /** Feeds the editor while a line is read. */
  async #pump(): Promise<void> {
    const filter = new PasteFilter();
    const decoder = new TextDecoder();
    try {
      for await (const chunk of Deno.stdin.readable) {
        const text = filter.filter(decoder.decode(chunk, { stream: true }));
        // What follows an Enter in the same chunk waits for the next line.
        for (const part of text.split(/(?<=[\r\n])/)) {
          while (this.#waiting === undefined && !this.#ended) await this.#awake.promise;
          if (this.#ended) return;
          // Not written to the stream: the editor is to have seen it when this returns.
          this.#input.emit("data", part);
        }
      }
    } finally {
      this.#editor.close();
    }
  }
}

function setRaw(raw: boolean): void {
  process.stderr.write(raw ? PASTE_ON : PASTE_OFF);
  try {
    Deno.stdin.setRaw(raw, { cbreak: false });
  } catch {
    // The terminal is gone: reading ends too.
  }
}

function fold(text: string): string {
  return text.replaceAll("\n", LINE_MARK);
}

function unfold(text: string): string {
  return text.replaceAll(LINE_MARK, "\n");
}
