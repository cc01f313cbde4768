/**
 * Texts of a message as a model is given them.
 *
 * @module
 */

import { sha256Hex } from "../base/sha256.ts";
import { markedText, nameOf, type TextPart } from "../contract/text_part.ts";

const TAG_CHARS = 16;

/** A text, marked as data where it is not in the person's own words. */
export function promptText(part: TextPart): string {
  return part.provenance === "file" ? fileText(part.from, part.text) : markedText(part);
}

/**
 * A file's text under a header line with its name. Header and last line have a hash of the text, which no
 * text can hold, so that a file cannot end itself and go on as the person.
 */
export function fileText(name: string | undefined, text: string): string {
  const tag = sha256Hex(text).slice(0, TAG_CHARS);
  const shown = nameOf({ from: name });
  return `[file ${tag}${shown === "" ? "" : `: ${shown}`}]\n${text}\n[end ${tag}]`;
}
