import type { UserPart } from "../contract/messages.ts";
import { isOwn } from "../contract/text_part.ts";

/** Longest title, in code points. */
const MAX_TITLE_LENGTH = 80;

/** Text that is looked at for a title. */
const MAX_LOOKED_AT = 2_000;

/**
 * A title for a session from its first message: the first words of its text on one line, at most 80
 * characters, whole words where there are some. The sender's own words come before others'. Empty when
 * the message has no text.
 */
export function titleOf(input: readonly UserPart[]): string {
  const texts = input.filter((part) => part.type === "text");
  for (const part of [...texts.filter(isOwn), ...texts]) {
    const line = part.text.slice(0, MAX_LOOKED_AT).toWellFormed()
      // Control characters, and those that turn the direction of what a list shows after them.
      .replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffd]+/gu, " ")
      .replace(/\s+/gu, " ").trim();
    if (line !== "") return shorten(line);
  }
  return "";
}

function shorten(line: string): string {
  const points = [...line];
  if (points.length <= MAX_TITLE_LENGTH) return line;
  const cut = points.slice(0, MAX_TITLE_LENGTH - 1).join("");
  // The last word may be cut, unless the next character is a space anyway.
  const end = points[MAX_TITLE_LENGTH - 1] === " " ? cut.length : cut.lastIndexOf(" ");
  return `${cut.slice(0, end > cut.length / 2 ? end : cut.length)}…`;
}
