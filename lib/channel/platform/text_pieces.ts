/**
 * Messages whose text is not all in the sender's own words: in pieces, for `HandledMessage.parts`.
 *
 * @module
 */

import { isOwn, markedText, type Provenance, type TextPart } from "../../contract/text_part.ts";
import {
  type HandledMessage,
  MAX_INBOUND_CHARS,
  MAX_INBOUND_PARTS,
} from "../../contract/inbound_message.ts";

/** What says something of a message. */
export type Said = Pick<HandledMessage, "content" | "parts">;

/**
 * A message of these pieces, in their order: without blank ones, and cut to what the service takes.
 * `parts` is left out where everything is the sender's own.
 */
export function inPieces(pieces: readonly TextPart[]): Said {
  let left = MAX_INBOUND_CHARS;
  const parts: TextPart[] = [];
  for (const piece of pieces) {
    const text = piece.text.trim().slice(0, left).toWellFormed();
    if (text === "") continue;
    left -= text.length + 2;
    const last = parts.at(-1);
    const room = parts.length < MAX_INBOUND_PARTS;
    if (last !== undefined && (!room || isSame(last, piece))) {
      last.text += `\n\n${text}`;
      // Beyond the bound nobody can say whose words they are.
      if (!isSame(last, piece)) last.provenance = "quoted";
    } else parts.push({ ...piece, text });
    if (left <= 0) break;
  }
  const content = parts.map(markedText).join("\n\n");
  return parts.every(isOwn) ? { content } : { content, parts };
}

/** The pieces of what a message says. */
export function piecesOf({ content, parts }: Said): readonly TextPart[] {
  return parts ?? [{ text: content }];
}

/** Text that is not the sender's, for {@linkcode inPieces}; none for a blank one. */
export function others(provenance: Provenance, text: string, from?: string): TextPart[] {
  if (text.trim() === "") return [];
  return [{ text, provenance, ...from !== undefined && from !== "" && { from } }];
}

/** How a platform shows lines that begin with `>`. */
export interface QuoteMarks {
  /**
   * How far one reaches: `line` its own line, `paragraph` to the next blank line, as in CommonMark.
   * Default: `line`.
   */
  reach?: "line" | "paragraph";
  /** `>>>` quotes everything behind it. */
  hasRest?: boolean;
}

/** Whether a line begins with `>`, behind nothing that anybody sees. */
export function isQuoteLine(line: string): boolean {
  return /^[\s\p{Cf}]*>/u.test(line);
}

/** What somebody has typed, in pieces: lines that quote by `>`, and their own. */
export function splitQuotes(
  text: string,
  { reach = "line", hasRest = false }: QuoteMarks = {},
): TextPart[] {
  // Nearly always: most messages quote nothing.
  if (!text.includes(">")) return [{ text }];
  const pieces: { lines: string[]; isQuoted: boolean }[] = [];
  let isQuoted = false;
  let isRest = false;
  for (const line of text.split(/\r\n|[\n\r\u2028\u2029]/)) {
    isRest ||= hasRest && /^[\s\p{Cf}]*>>>/u.test(line);
    const goesOn: boolean = isQuoted && reach === "paragraph" && line.trim() !== "";
    isQuoted = isRest || isQuoteLine(line) || goesOn;
    const last = pieces.at(-1);
    if (last?.isQuoted === isQuoted) last.lines.push(line);
    else pieces.push({ lines: [line], isQuoted });
  }
  return pieces.map(({ lines, isQuoted }): TextPart => ({
    text: lines.join("\n"),
    ...isQuoted && { provenance: "quoted" },
  }));
}

/**
 * A mention of somebody, by a name that they have chosen themselves: nothing in it stands by itself, such
 * as the name of a host.
 */
export function mentionOf(name: string): string {
  return `@${name.replace(/[^\p{L}\p{M}\p{N}_.-]+/gu, "_")}`;
}

function isSame(one: TextPart, other: TextPart): boolean {
  return one.from === other.from &&
    (one.provenance === other.provenance || (isOwn(one) && isOwn(other)));
}
