/**
 * Reads a line at this process's terminal: keys from standard input, the line on standard error, so that
 * standard output has the answers alone.
 *
 * Only while a line is read is the terminal in raw mode. In between it is its normal self, so that Ctrl-C
 * is a signal again; what is typed meanwhile is no answer to a question that comes later.
 *
 * @module
 */

import { Editor } from "../terminal/editor.ts";
import { type Key, type Keys, readKeys } from "../terminal/keys.ts";
import { piece } from "../terminal/look.ts";
import { questionBlock } from "../terminal/question.ts";
import { processTerminal, Screen } from "../terminal/screen.ts";
import { wordWrap } from "../terminal/wrap.ts";

/** What reading a line ended with. */
export type Line =
  | { kind: "line"; text: string }
  /** Ctrl-C. */
  | { kind: "interrupt" }
  /** `abandon` was called. */
  | { kind: "abandoned" }
  /** Ctrl-D in an empty line, or the terminal is gone. */
  | { kind: "end" };

/** Reads lines one after another. */
export type LineReader = Pick<TerminalReader, keyof TerminalReader>;

/** A reader of this process's terminal. */
export function terminalReader(): LineReader {
  return new TerminalReader();
}

/** A line that is being read. */
interface Reading {
  question: string;
  editor: Editor;
  screen: Screen;
  resolve(line: Line): void;
}

class TerminalReader {
  readonly #terminal = processTerminal();
  readonly #keys: Keys;
  #reading: Reading | undefined;
  #isGone = false;

  constructor() {
    this.#keys = readKeys(Deno.stdin, this.#terminal.write, (key) => this.#take(key), () => {
      this.#isGone = true;
      this.#end({ kind: "end" });
    });
    this.#keys.pause();
  }

  /** Never two at once. */
  read(question: string): Promise<Line> {
    if (this.#isGone) return Promise.resolve({ kind: "end" });
    return new Promise((resolve) => {
      const editor = new Editor();
      const screen: Screen = new Screen(
        this.#terminal,
        () => questionBlock({ label: question, editor }, screen.width, screen.height),
        () => this.#end({ kind: "end" }),
      );
      this.#reading = { question, editor, screen, resolve };
      this.#keys.resume();
      screen.flush();
    });
  }

  /** Ends a read that is under way; what stood in the line is dropped. */
  abandon(): void {
    this.#end({ kind: "abandoned" });
  }

  /** Gives the terminal back. */
  close(): void {
    this.abandon();
    this.#keys.close();
  }

  #take(key: Key): void {
    const reading = this.#reading;
    if (reading === undefined) return;
    const asked = reading.editor.key(key);
    if (asked === "submit") this.#end({ kind: "line", text: reading.editor.text });
    else if (asked === "interrupt" || asked === "end") this.#end({ kind: asked });
    else reading.screen.update();
  }

  #end(line: Line): void {
    const reading = this.#reading;
    if (reading === undefined) return;
    const { question, editor, screen, resolve } = reading;
    this.#reading = undefined;
    screen.print(...wordWrap([piece(question), piece(editor.text)], screen.width));
    screen.close();
    this.#keys.pause();
    resolve(line);
  }
}
