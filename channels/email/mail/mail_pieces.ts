/**
 * Whose words stand in a mail: its sender's, or those of somebody whom they answer or forward. Mail
 * programs mark others' words in many ways; in doubt words are not the sender's.
 *
 * @module
 */

import type { TextPart } from "../../../lib/channel/mod.ts";
import { isQuoteLine, others, splitQuotes } from "../../../lib/channel/platform/mod.ts";
import { beginsAnotherMail, MAX_LINES } from "./newest_part.ts";

/** Words and tags that may stand before a subject, such as `[extern]`. */
const TAGS = String.raw`^\s*(?:\[[^\]]{1,40}\]\s*)*`;

/** `Fwd:` in the languages of the common mail programs. */
const FORWARD = new RegExp(
  TAGS + "(?:fwd?|wg|tr|rv|i|doorst|enc|pd|vb|vs|vl|i|İlt|пересл|fs|转发|轉寄|転送|전달)" +
    String.raw`\s*[:：]`,
  "iu",
);

/** `Re:` in the same. */
const REPLY = new RegExp(
  TAGS + String.raw`(?:re|aw|sv|antw|rif|res|odp|ynt|отв|回复|回覆|返信|회신)(?:\[\d+\])?\s*[:：]`,
  "iu",
);

/** Whether a subject says that a mail is passed on. */
export function isForward(subject: string): boolean {
  return FORWARD.test(subject);
}

/** The subject; of an answer, and of what is passed on, it is as somebody else has written it. */
export function subjectPieces(subject: string): TextPart[] {
  if (subject === "") return [];
  const text = `Subject: ${subject}`;
  if (isForward(subject)) return others("forwarded", text);
  return REPLY.test(subject) ? others("quoted", text) : [{ text }];
}

/**
 * The text of a mail, in pieces. `isForwarded`: it passes on another one in its text, which may stand
 * there without any mark.
 */
export function mailPieces(
  text: string,
  { isForwarded }: { isForwarded: boolean },
): TextPart[] {
  const lines = text.split("\n");
  const begin = isForwarded
    ? lines.findIndex((line, at) => isQuoteLine(line) || beginsAnotherMail(lines, at))
    : lines.findIndex((_, at) => at >= MAX_LINES || beginsAnotherMail(lines, at));
  const end = begin >= 0 ? begin : isForwarded ? 0 : lines.length;
  return [
    ...splitQuotes(lines.slice(0, end).join("\n")),
    ...others(isForwarded ? "forwarded" : "quoted", lines.slice(end).join("\n")),
  ];
}
