/**
 * Text of others as a person may be shown it: what cannot be seen, or turns what is seen around, stands
 * there as its code point.
 *
 * @module
 */

/**
 * Controls, formats (bidirectional marks, joiners, tags), private and unassigned code points, halves of
 * pairs, every space but the plain one, fillers, blanks and variation selectors.
 */
const HIDDEN =
  /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Variation_Selector}\u2800]|(?! )\p{Zs}/gu;

/** The text with everything hidden in it written in another way. */
export function replaceHidden(text: string, write: (codePoint: number) => string): string {
  return text.replace(HIDDEN, (char) => write(char.codePointAt(0)!));
}

/** The text on one line, nothing in it hidden. */
export function visibleLine(text: string): string {
  return replaceHidden(text, (point) => `\\u{${point.toString(16).padStart(4, "0")}}`);
}

/** The text cut to `maxChars`, nothing in it hidden, and how much was cut. */
export function visibleCut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return visibleLine(text);
  return visibleLine(text.slice(0, maxChars)) + cutNote(text.length - maxChars);
}

/**
 * The lines of the text, each with `indent` before it, so that none passes for one of ours. Of a text of
 * more than `maxChars` the first and the last ones, and between them how much is missing.
 */
export function visibleLines(
  text: string,
  { indent, maxChars }: { indent: string; maxChars: number },
): string[] {
  const linesOf = (part: string) => part.split(/\r\n|\n/).map((line) => indent + visibleLine(line));
  if (text.length <= maxChars) return linesOf(text);
  const half = Math.floor(maxChars / 2);
  const missing = missingNote(text.length - 2 * half);
  return [...linesOf(text.slice(0, half)), missing, ...linesOf(text.slice(-half))];
}

/** Head and tail of a visible line that is longer than `maxChars`. */
export function lineEnds(line: string, maxChars: number): string {
  if (line.length <= maxChars) return line;
  const half = Math.floor(maxChars / 2);
  const [head, tail] = [line.slice(0, half), line.slice(-half)];
  return `${head.toWellFormed()} ${missingNote(line.length - 2 * half)} ${tail.toWellFormed()}`;
}

/**
 * The first and the last of visible lines that have more than `maxChars` together. A long line among them
 * is cut in its middle, so no part of it passes for another line.
 */
export function linesEnds(lines: readonly string[], maxChars: number): string[] {
  if (sizeOf(lines) <= maxChars) return [...lines];
  const short = lines.map((line) => lineEnds(line, Math.floor(maxChars / 3)));
  const half = Math.floor(maxChars / 2);
  const head = countWithin(short, half);
  const tail = countWithin(short.slice(head).reverse(), half);
  const end = short.length - tail;
  const missing = end > head ? [missingNote(sizeOf(lines.slice(head, end)))] : [];
  return [...short.slice(0, head), ...missing, ...short.slice(end)];
}

/** How many of the lines, from the first, have no more than `maxChars` together. */
function countWithin(lines: readonly string[], maxChars: number): number {
  let chars = 0;
  const end = lines.findIndex((line) => (chars += line.length + 1) > maxChars);
  return end === -1 ? lines.length : end;
}

function sizeOf(lines: readonly string[]): number {
  return lines.reduce((sum, { length }) => sum + length + 1, 0);
}

function missingNote(chars: number): string {
  return `[… ${chars} characters not shown; the digest covers them …]`;
}

function cutNote(chars: number): string {
  return ` [… ${chars} more characters; the digest covers them]`;
}
