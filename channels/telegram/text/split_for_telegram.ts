/**
 * Cuts Markdown into messages that Telegram takes: 4096 UTF-16 units each, of what is shown of them.
 *
 * @module
 */

import { splitToFit } from "../../../lib/channel/markdown/mod.ts";
import { escapeTelegram, shownText, toTelegramHtml } from "./to_telegram_html.ts";

/** UTF-16 units of a message, without its markup (Bot API, sendMessage). */
export const MAX_MESSAGE_CHARS = 4_096;

/** Of the text beside a file. */
export const MAX_CAPTION_CHARS = 1_024;

/** Bytes of a message with its markup. The server refuses a text that is very much longer than shown. */
const MAX_HTML_BYTES = 30_000;

/** Below this a part is shown without its marks. */
const LEAST_CHARS = 256;

const encoder = new TextEncoder();

/** Parts of Markdown that each fit one message; none for a text of which nothing is shown. */
export function splitForTelegram(markdown: string): string[] {
  return splitToFit(markdown, MAX_MESSAGE_CHARS, "utf16", (part) => fits(htmlOf(part)))
    .filter((part) => shownText(htmlOf(part)).trim() !== "");
}

/** A part in Telegram's HTML. */
export function htmlOf(part: string): string {
  const html = toTelegramHtml(part);
  return part.length >= LEAST_CHARS || fits(html) ? html : escapeTelegram(part);
}

/** How much a text of Telegram's HTML shows, in UTF-16 units. */
export function shownChars(html: string): number {
  return shownText(html).length;
}

function fits(html: string): boolean {
  return shownChars(html) <= MAX_MESSAGE_CHARS && encoder.encode(html).length <= MAX_HTML_BYTES;
}
