/**
 * An answer that is rendered while it comes: blocks that are whole, and the one that still grows.
 *
 * @module
 */

import { lexMarkdown, type MarkdownToken } from "../../lib/channel/markdown/mod.ts";
import { type Line, piece } from "./look.ts";
import { renderBlocks } from "./markdown.ts";
import { wordWrap } from "./wrap.ts";

/** Lines to print now, which never change again, and lines that may. */
export interface Rendered {
  done: Line[];
  tail: Line[];
}

/** One stretch of an answer. */
export class MarkdownStream {
  /** False: the text is shown as it was written. */
  readonly #isRendered: boolean;
  #pending = "";
  #isFirst = true;

  constructor(isRendered: boolean) {
    this.#isRendered = isRendered;
  }

  /** Nothing of it was printed yet. */
  get isFirst(): boolean {
    return this.#isFirst;
  }

  add(text: string): void {
    this.#pending += this.#isFirst && this.#pending === "" ? text.trimStart() : text;
  }

  /** What there is now; with `isEnd`, nothing comes any more. */
  render(width: number, isEnd = false): Rendered {
    return this.#isRendered ? this.#blocks(width, isEnd) : this.#lines(width, isEnd);
  }

  #blocks(width: number, isEnd: boolean): Rendered {
    this.#pending = this.#pending.replace(/\r\n?/g, "\n").replaceAll("\0", "\uFFFD");
    const done = this.#apart(renderBlocks(this.#takeWhole(isEnd), width));
    if (done.length > 0) this.#isFirst = false;
    return { done, tail: this.#apart(renderBlocks(lexMarkdown(this.#pending), width)) };
  }

  /** Takes the blocks that are whole: what follows one, in whole lines, shows that it is. */
  #takeWhole(isEnd: boolean): MarkdownToken[] {
    const end = isEnd ? this.#pending.length : this.#pending.lastIndexOf("\n") + 1;
    const lines = this.#pending.slice(0, end);
    const tokens = lexMarkdown(lines).filter(({ type }) => type !== "space");
    if (isEnd) {
      this.#pending = "";
      return tokens;
    }
    const last = tokens.at(-1);
    const at = last === undefined ? -1 : lines.lastIndexOf(last.raw);
    if (at < 0) return [];
    this.#pending = this.#pending.slice(at);
    return tokens.slice(0, -1);
  }

  #lines(width: number, isEnd: boolean): Rendered {
    const end = isEnd ? this.#pending.length : this.#pending.lastIndexOf("\n") + 1;
    const whole = this.#pending.slice(0, end);
    this.#pending = this.#pending.slice(end);
    const rows = (text: string) => text === "" ? [] : wordWrap([piece(text)], width);
    if (end > 0) this.#isFirst = false;
    return {
      done: rows(isEnd ? whole.trimEnd() : whole.replace(/\n$/, "")),
      tail: rows(this.#pending),
    };
  }

  #apart(lines: Line[]): Line[] {
    return this.#isFirst || lines.length === 0 ? lines : [[], ...lines];
  }
}
