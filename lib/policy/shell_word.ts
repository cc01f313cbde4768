/**
 * A text as one word of a command line that a person may paste.
 *
 * @module
 */

import { replaceHidden } from "../base/visible_text.ts";

/**
 * The text as one word for sh, bash and zsh. What holds hidden characters is written with `$'…'`, so that
 * nothing invisible is pasted.
 */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  const quoted = text.replace(/[\\']/g, "\\$&");
  const escaped = replaceHidden(quoted, (point) => {
    const digits = point.toString(16);
    return digits.length > 4 ? `\\U${digits.padStart(8, "0")}` : `\\u${digits.padStart(4, "0")}`;
  });
  if (escaped === quoted) return `'${text.replaceAll("'", `'\\''`)}'`;
  return `$'${escaped}'`;
}
