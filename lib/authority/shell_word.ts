/**
 * A text as one word of a command line that a person may paste, and texts with their hidden characters
 * made visible.
 *
 * @module
 */

import { escapeControls } from "../log.ts";

/** Characters that no person sees, or that change how others are shown. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u3164\uffa0]/u;
const EVERY_HIDDEN = new RegExp(HIDDEN, "gu");

/** The text on one line: control characters as `\xNN`, other hidden ones as `\u{N}`. */
export function showHidden(text: string): string {
  return escapeControls(text).replace(EVERY_HIDDEN, (char) => `\\u{${code(char)}}`);
}

/**
 * The text as one word for sh, bash and zsh. What holds hidden characters is written with `$'…'`, so that
 * nothing invisible is pasted.
 */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (!HIDDEN.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  const escaped = text.replace(/[\\']/g, "\\$&").replace(EVERY_HIDDEN, (char) => {
    const digits = code(char);
    return digits.length > 4 ? `\\U${digits.padStart(8, "0")}` : `\\u${digits.padStart(4, "0")}`;
  });
  return `$'${escaped}'`;
}

function code(char: string): string {
  return char.codePointAt(0)!.toString(16);
}
