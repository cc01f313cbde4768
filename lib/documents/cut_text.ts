/**
 * A document's text within what a model is given of one file.
 *
 * @module
 */

import { MAX_TEXT_CHARS } from "../contract/documents.ts";

/** How a text is cut. */
export interface CutOptions {
  /** Default: `MAX_TEXT_CHARS`. */
  maxChars?: number;
  /** Characters that follow and were not even put together. */
  moreChars?: number;
}

/**
 * The text if it has at most `maxChars` characters (UTF-16 units), else its beginning and a line that
 * says how much was cut. Never cuts between the two halves of a surrogate pair.
 */
export function cutText(
  text: string,
  { maxChars = MAX_TEXT_CHARS, moreChars = 0 }: CutOptions = {},
): string {
  const total = text.length + moreChars;
  if (total <= maxChars) return text;
  const end = Math.min(maxChars, text.length);
  const isPairCut = isHighSurrogate(text.charCodeAt(end - 1)) &&
    isLowSurrogate(text.charCodeAt(end));
  const shown = isPairCut ? end - 1 : end;
  return `${text.slice(0, shown)}\n\n[cut here: these are the first ${formatCount(shown)} of ` +
    `${formatCount(total)} characters; ${formatCount(total - shown)} are left out]`;
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
