/**
 * One answer, rendered on the terminal that standard output is, while remarks go past it.
 *
 * @module
 */

import { type Output, OutputClosedError } from "../output.ts";
import type { Line } from "./look.ts";
import { MarkdownStream } from "./markdown_stream.ts";
import { Screen, terminalSize } from "./screen.ts";

const RENDER_MS = 40;

/** Draws the block that still grows again and again; {@linkcode leave} before anything else prints. */
export class AnswerView {
  readonly #screen: Screen;
  #answer = new MarkdownStream(true);
  #tail: readonly Line[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasPrinted = false;
  /** Text of the segment has come. */
  #isBegun = false;
  #isGone = false;

  constructor(out: Pick<Output, "writeRaw">, size = terminalSize) {
    const port = { color: true, size, write: (text: string) => out.writeRaw(text) };
    this.#screen = new Screen(port, () => ({ lines: this.#tail }), () => this.#isGone = true);
  }

  /** Takes a delta. Throws {@linkcode OutputClosedError} when the terminal is gone. */
  add(text: string): void {
    if (this.#isGone) throw new OutputClosedError();
    this.#isBegun = true;
    this.#answer.add(text);
    this.#timer ??= setTimeout(() => this.#render(), RENDER_MS);
  }

  /** The segment is whole; a next delta begins another. */
  endSegment(): void {
    if (!this.#isBegun) return;
    this.#isBegun = false;
    this.#render(true);
    this.#answer = new MarkdownStream(true);
    this.#screen.leave();
  }

  /** Takes the growing block away, until more of it comes. */
  leave(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#screen.leave();
  }

  #render(isEnd = false): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const isFirst = this.#answer.isFirst && this.#hasPrinted;
    const { done, tail } = this.#answer.render(this.#screen.width, isEnd);
    const gap: Line[] = isFirst ? [[]] : [];
    if (done.length > 0) {
      this.#hasPrinted = true;
      this.#screen.print(...gap, ...done);
    }
    this.#tail = tail.length > 0 && done.length === 0 ? [...gap, ...tail] : tail;
    this.#screen.flush();
  }
}
