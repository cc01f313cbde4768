/**
 * Reading over the line breaks that programs set into base64 and hexadecimal text.
 *
 * @module
 */

/** Characters between two breaks at least; fewer are no line of such a text. */
const MIN_LINE_CHARS = 16;
/** Blanks before the next line at most, as an indented block has them. */
const MAX_INDENT_CHARS = 32;

const BREAK = /(?:\r\n|\n|\r|\\r\\n|\\n|\\r)/y;

/** What stands at a place of a text. */
export interface Unwrapped {
  /** Without breaks; fewer characters than asked for when there are no more. */
  text: string;
  /** Where it ends in the text that it was read from. */
  end: number;
  /** The text was over before there were enough, so that more of it may change this. */
  isOpen: boolean;
}

/** Reads `length` characters from `at`, leaving out line breaks between them. */
export function unwrap(text: string, at: number, length: number): Unwrapped {
  let read = "";
  let from = at;
  for (let breaks = 0;; breaks++) {
    const stop = nextBreak(text, from, from + length - read.length);
    read += text.slice(from, stop);
    if (read.length === length) return { text: read, end: stop, isOpen: false };
    if (stop >= text.length) return { text: read, end: stop, isOpen: true };
    if (breaks > 0 && stop - from < MIN_LINE_CHARS) {
      return { text: read, end: stop, isOpen: false };
    }
    const next = afterBreak(text, stop);
    if (next === undefined) return { text: read, end: stop, isOpen: false };
    if (next >= text.length) return { text: read, end: next, isOpen: true };
    from = next;
  }
}

/** Whether a character may begin a break. */
export function mayBreak(code: number): boolean {
  return code === 0x0a || code === 0x0d || code === 0x5c;
}

function nextBreak(text: string, from: number, to: number): number {
  const end = Math.min(to, text.length);
  for (let at = from; at < end; at++) if (mayBreak(text.charCodeAt(at))) return at;
  return end;
}

/** Where the next line begins; the text's end while it may still begin later. */
function afterBreak(text: string, at: number): number | undefined {
  BREAK.lastIndex = at;
  let next = BREAK.test(text) ? BREAK.lastIndex : undefined;
  const rest = text.length - at;
  if (next === undefined) return rest < 2 && text[at] === "\\" ? text.length : undefined;
  // `\r` may be the half of `\r\n`; an escaped one takes up to four characters.
  if (rest < 4 && "\\r\\n".startsWith(text.slice(at))) return text.length;
  const last = next + MAX_INDENT_CHARS;
  while (next < last && (text[next] === " " || text[next] === "\t")) next += 1;
  return next;
}
