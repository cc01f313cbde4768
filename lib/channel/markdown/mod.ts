/**
 * Markdown for channels: into a platform's own format, and into messages that it takes.
 *
 * @module
 */

export { htmlRenderer } from "./html_renderer.ts";
export { lexMarkdown, type MarkdownToken } from "./lex_markdown.ts";
export { type InlineFormat, isSafeLink, renderInline } from "./render_markdown.ts";
export { splitMarkdown } from "./split_markdown.ts";
export type { TextMeasure } from "./text_measure.ts";
export { escapeHtml, toHtml } from "./to_html.ts";
export { blocksToText, isSameLink, toPlainText } from "./to_plain_text.ts";
export { cleanXmlText, toStyling } from "./to_styling.ts";
