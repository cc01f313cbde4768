/**
 * Markdown for channels: into a platform's own format, and into messages that it takes.
 *
 * @module
 */

export { htmlFormat } from "./html_format.ts";
export { lexMarkdown, type MarkdownToken } from "./lex_markdown.ts";
export { isSafeLink, renderInline } from "./render_markdown.ts";
export { splitMarkdown, splitToFit } from "./split_markdown.ts";
export { measureBy, type TextMeasure } from "./text_measure.ts";
export { escapeHtml, toHtml } from "./to_html.ts";
export {
  blocksToText,
  cellsOf,
  isSameLink,
  PLAIN,
  type TextFormat,
  toPlainText,
  wrapped,
} from "./to_plain_text.ts";
export { cleanXmlText, toStyling } from "./to_styling.ts";
