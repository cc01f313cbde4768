/**
 * The lines of a text of Markdown, and what each needs where a part begins or ends at it.
 *
 * @module
 */

import { type Fence, fenceAfter } from "./fences.ts";

const ITEM = /^( {0,60})([-*+]|(\d{1,9})[.)])( {1,4})(?=\S)/;

/** A line. Positions are those of the text. */
export interface SplitLine {
  start: number;
  /** Of its line end. */
  end: number;
  isBlank: boolean;
  isHeading: boolean;
  /** It begins an item of a list. */
  isItem: boolean;
  /** Of one whose items have numbers. */
  isNumbered: boolean;
  /** Open before it. */
  before: Fence | undefined;
  /** Open behind it. */
  after: Fence | undefined;
  /** Spaces that what belongs to the same item of a list has before it; 0 outside of lists. */
  indent: number;
  /** Spaces before the line itself, in a list; 0 elsewhere. */
  ownIndent: number;
  /** Marks of the quotes that it lies in. */
  quote: string;
  /** The number that its item has in its list, where another one is written. */
  ordinal?: number;
}

interface OpenList {
  indent: number;
  written: number;
  ordinal: number;
}

/** All lines of a text. */
export function splitLines(text: string): SplitLine[] {
  const lines: SplitLine[] = [];
  let fence: Fence | undefined;
  let lists: OpenList[] = [];
  let indent = 0;
  let wasBlank = true;
  let start = 0;
  while (start <= text.length) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(start, end);
    const after = fenceAfter(line, fence);
    const isBlank = line.trim() === "";
    const isText = fence === undefined && !isBlank;
    const item = isText ? ITEM.exec(line) : null;
    const ownIndent = /^ {0,60}/.exec(line)![0].length;
    let ordinal: number | undefined;
    const isItem = item !== null && (ownIndent < 4 || indent > 0);
    if (isItem) {
      indent = item[0].length;
      lists = lists.filter((one) => one.indent <= ownIndent);
      const last = lists.at(-1);
      if (item[3] === undefined) lists = lists.filter((one) => one.indent < ownIndent);
      else if (last === undefined || last.indent < ownIndent) {
        lists.push({ indent: ownIndent, written: Number(item[3]), ordinal: Number(item[3]) });
      } else {
        const written = Number(item[3]);
        last.ordinal = written === last.written ? last.ordinal + 1 : written;
        last.written = written;
        if (last.ordinal !== written) ordinal = last.ordinal;
      }
    } else if (isText && ownIndent === 0 && (wasBlank || /^(#{1,6} |>|[`~]{3})/.test(line))) {
      indent = 0;
      lists = [];
    }
    lines.push({
      start,
      end,
      isBlank,
      isHeading: isText && /^ {0,3}#{1,6}\s/.test(line),
      isItem,
      isNumbered: isItem && item[3] !== undefined,
      before: fence,
      after,
      indent,
      ownIndent: indent > 0 && !isBlank ? ownIndent : 0,
      quote: /^ {0,3}(?:> ?)+/.exec(line)?.[0] ?? "",
      ordinal,
    });
    fence = after;
    wasBlank = isBlank;
    start = end + 1;
  }
  return lines;
}
