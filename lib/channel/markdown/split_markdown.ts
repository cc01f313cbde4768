/**
 * Cuts Markdown into messages that a platform takes, each of which is Markdown by itself.
 *
 * @module
 */

import { closing, type Frame, opening, quoteMarks, spacesOf } from "./code_frame.ts";
import { cleanText } from "./lex_markdown.ts";
import { type SplitLine, splitLines } from "./split_lines.ts";
import { measureBy, type TextMeasure } from "./text_measure.ts";
import { unbreakableSpans } from "./unbreakable_spans.ts";

/** A border is worth having when it leaves at least this share of what would fit. */
const WORTH = 0.3;

/** What would mean something else at the beginning of a message than it did in its line. */
const MARK_OF_BLOCK = /^(?:[-*+#>=|`~]|\d+[.)]|&)/;

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/**
 * A text in parts of at most `limit`, counted by `measure`; none for a blank one. Parts end with a
 * paragraph where that is worth it, else with a line, else with a word, and only then in one, but never
 * in a character. Links, emphasis and code in a line stay whole where they fit. A block of code that is
 * cut is closed, and opened again as it was; items of lists keep their numbers. Blanks around a cut fall
 * away, and nothing else. Takes bounded time. Throws RangeError for a `limit` that has no room for a
 * character: 4 is enough for every measure by name.
 */
export function splitMarkdown(
  markdown: string,
  limit: number,
  measure: TextMeasure = "utf16",
): string[] {
  const sizeOf = measureBy(measure);
  if (!Number.isInteger(limit) || (limit < 4 && typeof measure === "string")) {
    throw new RangeError(`Cannot split at ${limit}: expected a whole number of at least 4`);
  }
  const text = cleanText(markdown).replace(/^(?:[ \t]*\n)+/, "").trimEnd();
  if (text === "") return [];
  if (sizeOf(text) <= limit) return [text];
  return new Splitter(text, limit, sizeOf).parts();
}

/**
 * As {@linkcode splitMarkdown}, for a format that shows more than is written, such as a table: what does not
 * fit then is cut in halves. A part of a few characters has to fit.
 */
export function splitToFit(
  markdown: string,
  limit: number,
  measure: TextMeasure,
  fits: (part: string) => boolean,
): string[] {
  return splitMarkdown(markdown, limit, measure).flatMap((part) =>
    fits(part) ? [part] : splitToFit(part, Math.floor(limit / 2), measure, fits)
  );
}

interface Cut {
  /** Where the part ends. */
  end: number;
  /** Where the next begins. */
  next: number;
}

class Splitter {
  readonly #text: string;
  readonly #limit: number;
  readonly #sizeOf: (text: string) => number;
  readonly #lines: readonly SplitLine[];
  readonly #inSpan: Uint8Array;
  /** Where the part begins, and the line that this is in. */
  #at = 0;
  #line = 0;
  #frame: Frame = "whole";

  constructor(text: string, limit: number, sizeOf: (text: string) => number) {
    this.#text = text;
    this.#limit = limit;
    this.#sizeOf = sizeOf;
    this.#lines = splitLines(text);
    this.#inSpan = unbreakableSpans(text, (span) => sizeOf(span) > limit / 2);
  }

  parts(): string[] {
    const parts: string[] = [];
    while (this.#at < this.#text.length) {
      this.#frame = this.#frameHere();
      const { end, next } = this.#cut();
      const part = this.#build(end);
      if (part.trim() !== "") parts.push(part);
      this.#at = next;
      while (this.#lines[this.#line]!.end < next) this.#line += 1;
    }
    return parts;
  }

  /** Where the limit is small, a frame would leave no room for the text. */
  #frameHere(): Frame {
    const { before, quote } = this.#lines[this.#line]!;
    const frames: Frame[] = ["whole", "bare", "none"];
    return frames.find((frame) =>
      this.#sizeOf(opening(before, frame) + closing(before, frame) + quote) <= this.#limit / 2
    ) ?? "none";
  }

  #fits(end: number): boolean {
    return this.#sizeOf(this.#build(end)) <= this.#limit;
  }

  #cut(): Cut {
    const most = this.#mostThatFits();
    if (most === this.#text.length) return { end: most, next: most };
    const least = this.#at + (most - this.#at) * WORTH;
    const finders = [
      () => this.#lineCut(most, true),
      () => this.#lineCut(most, false),
      () => this.#wordCut(most),
    ];
    let spare: Cut | undefined;
    for (const find of finders) {
      const cut = find();
      if (cut !== undefined && cut.end >= least) return cut;
      spare ??= cut;
    }
    return spare ?? this.#characterCut(most);
  }

  /** The last position with which the part fits; at least one character. */
  #mostThatFits(): number {
    const { length } = this.#text;
    let fits = this.#at;
    let step = this.#limit;
    let tooMuch = Math.min(length, fits + step);
    while (this.#fits(tooMuch)) {
      fits = tooMuch;
      if (fits === length) return fits;
      step *= 2;
      tooMuch = Math.min(length, fits + step);
    }
    while (tooMuch - fits > 1) {
      const middle = fits + Math.floor((tooMuch - fits) / 2);
      if (this.#fits(middle)) fits = middle;
      else tooMuch = middle;
    }
    return fits;
  }

  /** The last end of a line, of a paragraph where `isParagraph`. */
  #lineCut(most: number, isParagraph: boolean): Cut | undefined {
    // The part may end with the line before the first one that is too much.
    let from = this.#lineOf(most);
    while (from + 1 < this.#lines.length && this.#lines[from]!.isBlank) from += 1;
    for (let index = Math.min(from + 1, this.#lines.length - 1); index > this.#line; index -= 1) {
      const line = this.#lines[index]!;
      const last = this.#lines[index - 1]!;
      if (last.end <= this.#at) return undefined;
      if (isParagraph ? !isParagraphBorder(last, line) : !isLineBorder(last, line)) continue;
      if (this.#inSpan[line.start]) continue;
      let end = index;
      while (end > this.#line + 1 && line.before === undefined && this.#lines[end - 1]!.isBlank) {
        end -= 1;
      }
      const cut = { end: this.#lines[end - 1]!.end, next: line.start };
      if (cut.end > this.#at && cut.end <= most && this.#fits(cut.end)) return cut;
    }
    return undefined;
  }

  /** The last word of the line that is too long; the lines before it have been looked at. */
  #wordCut(most: number): Cut | undefined {
    const text = this.#text;
    const { start, before, after } = this.#lines[this.#lineOf(most)]!;
    // Not within a fence itself.
    if (before !== after) return undefined;
    const least = Math.max(start, this.#at);
    for (let end = most; end > least; end -= 1) {
      if (!isBlank(text[end]) || this.#inSpan[end]) continue;
      // In code every blank counts.
      if (before !== undefined) {
        if (text.slice(least, end).trim() === "") return undefined;
        if (!isBlank(text[end - 1]) && this.#fits(end)) return { end, next: end };
        continue;
      }
      let next = end;
      while (isBlank(text[next])) next += 1;
      if (MARK_OF_BLOCK.test(text.slice(next, next + 12))) continue;
      while (end > least && isBlank(text[end - 1])) end -= 1;
      if (end > least && this.#fits(end)) return { end, next };
    }
    return undefined;
  }

  #characterCut(most: number): Cut {
    const text = this.#text;
    const ahead = text.slice(this.#at, most + 64);
    let end = Math.max(most, this.#at);
    // Out of a span, where something is left then.
    let outside = end;
    while (outside > this.#at && this.#inSpan[outside]) outside -= 1;
    if (outside > this.#at) end = outside;
    const whole = end - this.#at < ahead.length
      ? this.#at + (graphemes.segment(ahead).containing(end - this.#at)?.index ?? 0)
      : end;
    if (whole > this.#at && this.#fits(whole)) return { end: whole, next: whole };
    if (isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
    if (end > this.#at && this.#fits(end)) return { end, next: end };
    // What is repeated around it takes the room.
    if (this.#frame !== "none") {
      this.#frame = "none";
      return this.#cut();
    }
    throw new RangeError(
      `Cannot split at ${this.#limit}: a character alone is longer than that`,
    );
  }

  /** Index of the line that a position lies in. */
  #lineOf(position: number): number {
    let low = this.#line;
    let high = this.#lines.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#lines[middle]!.start <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The part from where it begins to `end`, with what it repeats. */
  #build(end: number): string {
    const first = this.#lines[this.#line]!;
    const isWithinLine = this.#at > first.start;
    const frame = this.#frame;
    const isCode = first.before !== undefined;
    // What belongs to an item of a list that began before would be code, by its indentation.
    let dedent = isCode
      ? spacesOf(first.before!.prefix)
      : isWithinLine
      ? first.indent
      : first.ownIndent;
    const head = isCode
      ? opening(first.before, frame) +
        (isWithinLine && frame !== "none" ? quoteMarks(first.before) : "")
      : isWithinLine && frame !== "none"
      ? first.quote
      : "";
    const numbered = new Set<number>();
    let body = "";
    let last = first;
    for (let index = this.#line; index < this.#lines.length; index += 1) {
      const line = this.#lines[index]!;
      if (line.start > end) break;
      last = line;
      const start = Math.max(line.start, this.#at);
      let shown = this.#text.slice(start, Math.min(line.end, end));
      const isWhole = start === line.start;
      if (isWhole) {
        const isDeep = line.ownIndent >= dedent || line.isBlank || line.before !== undefined;
        if (!isDeep) dedent = 0;
        if (line.ordinal !== undefined && this.#at > 0 && !numbered.has(line.ownIndent)) {
          shown = shown.replace(/\d+/, String(line.ordinal));
        }
        if (line.isNumbered) {
          // Only the number 1 begins a list right behind text.
          const follows = index > this.#line && !this.#lines[index - 1]!.isBlank;
          if (
            follows && !(first.isItem && !isWithinLine) && numbered.size === 0 && first.indent > 0
          ) body += "\n";
          numbered.add(line.ownIndent);
        }
        if (dedent > 0) shown = shown.replace(new RegExp(`^ {1,${dedent}}`), "");
      }
      body += (index > this.#line ? "\n" : "") + shown;
    }
    const isEnd = end >= last.end;
    const open = isEnd ? last.after : last.before;
    return head + body + closing(open, frame, dedent);
  }
}

function isParagraphBorder(last: SplitLine, line: SplitLine): boolean {
  if (line.before !== undefined || line.isBlank || last.isHeading) return false;
  return last.isBlank || last.before !== undefined || line.after !== undefined || line.isHeading;
}

/** Not so that a block of code would be empty. */
function isLineBorder(last: SplitLine, line: SplitLine): boolean {
  if (line.before === undefined) return !line.isBlank && !last.isHeading;
  return last.before !== undefined && line.after !== undefined;
}

function isBlank(character: string | undefined): boolean {
  return character === " " || character === "\t";
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xD800 && unit <= 0xDBFF;
}
