/**
 * Markdown as plain text, for platforms that show nothing else and for the text part of an email.
 *
 * @module
 */

import type { Token, Tokens } from "marked";
import { cleanText, lexMarkdown, type MarkdownToken } from "./lex_markdown.ts";
import { type InlineFormat, renderInline } from "./render_markdown.ts";

const PLAIN: InlineFormat = {
  text: (text) => text,
  strong: (inner) => inner,
  em: (inner) => inner,
  del: (inner) => inner,
  code: (text) => text,
  link: ({ href, label, plain }) =>
    isSameLink(href, plain) ? label : label === "" ? href : `${label} (${href})`,
  br: () => "\n",
};

/** Whether a link's text says already where it leads. */
export function isSameLink(href: string, plain: string): boolean {
  return href === "" || href === plain || href === `mailto:${plain}` || href === `http://${plain}`;
}

/**
 * What a text says, without its marks: blocks with a blank line between them, items behind `-` or their
 * number, the address of a link behind it. Takes bounded time; never throws.
 */
export function toPlainText(markdown: string): string {
  return blocksToText(lexMarkdown(markdown), PLAIN);
}

/** Blocks as text, what is in their lines by `format`. */
export function blocksToText(tokens: readonly Token[], format: InlineFormat): string {
  const blocks = (tokens as readonly MarkdownToken[])
    .map((token) => block(token, format))
    .filter((text) => text !== undefined);
  return blocks.join("\n\n");
}

function block(token: MarkdownToken, format: InlineFormat): string | undefined {
  switch (token.type) {
    case "space":
    case "def":
      return undefined;
    case "heading": {
      const inner = renderInline(token.tokens, format);
      return format.heading?.(inner) ?? inner;
    }
    case "paragraph":
      return renderInline(token.tokens, format);
    case "text":
      return token.tokens === undefined ? format.text(token.text) : renderInline(
        token.tokens,
        format,
      );
    case "code":
      return format.codeBlock?.(token.text) ?? token.text;
    case "hr":
      return "---";
    case "blockquote":
      return prefixed(blocksToText(token.tokens, format), "> ", "> ");
    case "list":
      return list(token, format);
    case "table":
      return [token.header, ...token.rows]
        .map((cells) => cells.map((cell) => renderInline(cell.tokens, format)).join(" | "))
        .join("\n");
    case "html":
      return format.text(cleanText(token.raw).trimEnd());
    case "checkbox":
      return undefined;
    default:
      return renderInline([token], format);
  }
}

function list(
  { items, ordered, start, loose }: Tokens.List,
  format: InlineFormat,
): string {
  return items.map((item, index) => {
    const marker = ordered ? `${Number(start || 0) + index}. ` : "- ";
    const box = item.task ? item.checked ? "[x] " : "[ ] " : "";
    const first = marker + box;
    // The blocks of a tight item follow each other without a blank line.
    const blocks = (item.tokens as MarkdownToken[])
      .map((token) => block(token, format))
      .filter((text) => text !== undefined)
      .join(item.loose ? "\n\n" : "\n");
    return prefixed(blocks, first, " ".repeat(marker.length)).trimEnd();
  }).join(loose ? "\n\n" : "\n");
}

function prefixed(text: string, first: string, rest: string): string {
  return text.split("\n").map((line, index) =>
    index === 0 ? first + line : line === "" ? rest.trimEnd() : rest + line
  ).join("\n");
}
