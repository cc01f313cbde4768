/**
 * Text of others as a person may be shown it: what cannot be seen, or turns what is seen around, stands
 * there as its code point (decisions E4).
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

/** The lines of the text, each with `indent` before it, so that none passes for one of ours. */
export function visibleLines(text: string, { indent, maxChars }: {
  indent: string;
  maxChars: number;
}): string {
  const shown = text.slice(0, maxChars).split(/\r\n|\n/).map((line) => indent + visibleLine(line));
  if (text.length > maxChars) shown.push(indent + cutNote(text.length - maxChars).trim());
  return shown.join("\n");
}

function cutNote(chars: number): string {
  return ` [… ${chars} more characters; the digest covers them]`;
}
