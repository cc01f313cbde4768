/**
 * A text in messages that servers take.
 *
 * @module
 */

import { cleanXmlText, splitMarkdown, toStyling } from "../../../lib/channel/markdown/mod.ts";

/**
 * Bytes of the text of one message as it is written in XML. Servers take 10,000 at the least (RFC 6120,
 * 13.12), and usually 256 KiB; a program on a telephone shows a longer one badly.
 */
export const MAX_BODY_BYTES = 8_000;

const encoder = new TextEncoder();

/** Bytes of a text in XML. */
export function xmlBytes(text: string): number {
  return encoder.encode(text).length + 4 * (text.match(/[&<>]/g)?.length ?? 0);
}

/** Markdown in parts, each of which {@linkcode bodyOf} makes a message of; none for a blank one. */
export function messageParts(markdown: string): string[] {
  return splitMarkdown(cleanXmlText(markdown), MAX_BODY_BYTES / 2, xmlBytes);
}

/** The text of a message. As it is written where it would be too long as it is shown. */
export function bodyOf(part: string): string {
  const styled = toStyling(part);
  if (styled !== "" && xmlBytes(styled) <= MAX_BODY_BYTES) return styled;
  return cleanXmlText(part).trim();
}
