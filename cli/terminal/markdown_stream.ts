/**
 * An answer that is rendered while it comes: blocks that are whole, and the one that still grows.
 *
 * @module
 */

import { cleanText, lexMarkdown } from "../../lib/channel/markdown/lex_markdown.ts";
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
    this.#pending = cleanText(this.#pending);
    const tokens = lexMarkdown(this.#pending).filter(({ type }) => type !== "space");
    // What follows it shows that a block is whole.
    const whole = isEnd ? tokens : tokens.slice(0, -1);
    const rest = isEnd ? [] : tokens.slice(-1);
    const done = this.#apart(renderBlocks(whole, width));
    if (done.length > 0) this.#isFirst = false;
    const last = rest[0];
    if (isEnd) this.#pending = "";
    else if (last !== undefined && whole.length > 0) {
      const at = this.#pending.lastIndexOf(last.raw);
      if (at >= 0) this.#pending = this.#pending.slice(at);
      else return { done: [], tail: this.#apart(renderBlocks(tokens, width)) };
    }
    return { done, tail: this.#apart(renderBlocks(rest, width)) };
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
