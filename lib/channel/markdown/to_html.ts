/**
 * Markdown as HTML that is safe in an email.
 *
 * @module
 */

import { htmlFormat } from "./html_format.ts";
import { lexMarkdown } from "./lex_markdown.ts";
import { blocksToText } from "./to_plain_text.ts";

const MAIL = htmlFormat({
  escape: escapeHtml,
  gap: "\n",
  table: (header, rows) => `<table>\n${[header, ...rows].join("\n")}\n</table>`,
});

/**
 * A text as HTML, without the elements of a whole document. Markup in the text is shown as it was
 * written; links lead to http, https and mailto alone. Takes bounded time; never throws.
 */
export function toHtml(markdown: string): string {
  return blocksToText(lexMarkdown(markdown), MAIL);
}

/** Text for an element or an attribute in quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
}
