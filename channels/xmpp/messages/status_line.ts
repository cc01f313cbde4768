/**
 * What the agent is doing, in one line of a presence's status.
 *
 * @module
 */

import { toPlainText } from "../../../lib/channel/markdown/mod.ts";
import { cleanXmlText } from "../text/to_styling.ts";

const MAX_CHARS = 120;

/** The line; empty for a blank text. */
export function statusLine(markdown: string): string {
  const line = cleanXmlText(toPlainText(markdown)).replace(/\s+/g, " ").trim();
  const shown = line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS - 1)}…` : line;
  return shown.toWellFormed();
}
