/**
 * A document's text within what a model is given of one file (decisions B "Documents").
 *
 * @module
 */

import { MAX_TEXT_CHARS } from "./types.ts";

/**
 * The text if it has at most `maxChars` characters (UTF-16 units), else its beginning and a line that
 * says how much was cut. Never cuts between the two halves of a surrogate pair.
 */
export function cutText(text: string, maxChars = MAX_TEXT_CHARS): string {
  if (text.length <= maxChars) return text;
  const isPairCut = isHighSurrogate(text.charCodeAt(maxChars - 1)) &&
    isLowSurrogate(text.charCodeAt(maxChars));
  const shown = isPairCut ? maxChars - 1 : maxChars;
  const [first, rest, total] = [shown, text.length - shown, text.length].map(formatCount);
  return `${text.slice(0, shown)}\n\n` +
    `[cut here: these are the first ${first} of ${total} characters; ${rest} are left out]`;
}

/** A number with a comma at every third digit, the same on every machine. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
