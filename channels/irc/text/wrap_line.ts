// deno-lint-ignore-file no-control-regex -- IRC writes styles as control characters.
/**
 * Cuts a line of IRC where it is too long for the server.
 *
 * @module
 */

const encoder = new TextEncoder();
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Codes that turn a style on and off. */
const STYLES = /[\x02\x11\x1D\x1E]/;

/** A space is a good end from here on, as a share of the line. */
const WORTH = 0.4;

interface Cut {
  line: string;
  /** Styles that are on behind it. */
  styles: ReadonlySet<string>;
}

/**
 * The parts of a line, each of at most `maxBytes` of UTF-8: cut at a space where that is worth it, else
 * between characters as people see them. A style that is on at a cut is on in the next part as well.
 */
export function* wrapLine(line: string, maxBytes: number): Generator<string> {
  if (maxBytes < 16) throw new RangeError(`Cannot wrap at ${maxBytes} bytes: at least 16`);
  let styles = new Set<string>();
  let part = "";
  let bytes = 0;
  /** Where the part could end, with what comes behind that. */
  let space: Cut & { rest: string } | undefined;
  const begin = (on: ReadonlySet<string>, text: string) => {
    part = [...on].join("") + text;
    bytes = sizeOf(part);
    space = undefined;
  };
  for (const unit of unitsOf(line, maxBytes - 8)) {
    const size = sizeOf(unit);
    if (bytes + size > maxBytes) {
      if (space !== undefined && sizeOf(space.line) >= maxBytes * WORTH) {
        yield space.line;
        begin(space.styles, space.rest);
      }
      // What was behind the space may be too long by itself.
      if (bytes + size > maxBytes) {
        yield part;
        begin(styles, "");
        if (unit === " ") continue;
      }
    }
    if (STYLES.test(unit)) {
      styles = new Set(styles);
      if (!styles.delete(unit)) styles.add(unit);
    }
    if (unit === " " && part.trim() !== "") space = { line: part, styles, rest: "" };
    else if (space !== undefined) space.rest += unit;
    part += unit;
    bytes += size;
  }
  if (part.replace(/[\x02\x11\x1D\x1E]/g, "").trim() !== "") yield part;
}

/** The last line of an answer that has more of them than may be sent. */
const REST = "… (the rest is too long for IRC)";

/**
 * The lines, cut where they are too long, and at most `maxLines` of them, 2 at least; the last one says if
 * there are more.
 */
export function wrapLines(
  lines: readonly string[],
  maxLines: number,
  maxBytes: number,
): string[] {
  const wrapped: string[] = [];
  for (const line of lines) {
    for (const part of wrapLine(line, maxBytes)) {
      if (wrapped.length < maxLines) wrapped.push(part);
      else return [...wrapped.slice(0, -1), REST];
    }
  }
  return wrapped;
}

/** Characters as people see them; one that is longer than a line falls into its code points. */
function* unitsOf(line: string, maxBytes: number): Generator<string> {
  for (const { segment } of graphemes.segment(line)) {
    if (sizeOf(segment) <= maxBytes) yield segment;
    else yield* segment;
  }
}

function sizeOf(text: string): number {
  return text.length === 1 && text.charCodeAt(0) < 0x80 ? 1 : encoder.encode(text).length;
}

/** Room that a server leaves for the text of a message, bytes (RFC 1459, 2.3: 512 in all). */
export function textBytes({ nick, target, command, lineBytes }: {
  nick: string;
  target: string;
  command: "PRIVMSG" | "NOTICE";
  /** Of a whole line with its end. */
  lineBytes: number;
}): number {
  // How the server shows us to others may change at any time: the longest that it can become.
  const prefix = sizeOf(`:${nick}!`) + MAX_USER_BYTES + 1 + MAX_HOST_BYTES;
  return lineBytes - prefix - sizeOf(` ${command} ${target} :`) - 2;
}

const MAX_USER_BYTES = 12;
const MAX_HOST_BYTES = 63;
