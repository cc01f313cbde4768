/**
 * Markdown as plain text, for platforms that show nothing else and for the text part of an email.
 *
 * @module
 */

import type { Token, Tokens } from "marked";
import { cleanText, lexMarkdown, type MarkdownToken } from "./lex_markdown.ts";
import { type InlineFormat, renderInline } from "./render_markdown.ts";

/** How a format writes blocks as well. What is `inner` is in the format already. */
export interface TextFormat extends InlineFormat {
  /** What stands in a paragraph, or in lines of its own; `isTight`: of an item without paragraphs. */
  lines(inner: string, isTight?: boolean): string;
  /** Undefined where nothing is shown of it. */
  heading(inner: string, depth: number): string | undefined;
  codeBlock(text: string, lang: string): string;
  /** `depth`: the quotes around it. */
  quote(inner: string, depth: number): string;
  table(table: Tokens.Table, format: TextFormat): string;
  /** An item of a list, behind its number or bullet and, with that, its box. */
  item(inner: string, marker: string, box: string): string;
  /** Behind it is a blank. */
  bullet: string;
  list(items: readonly string[], list: Tokens.List): string;
  /** One that is checked, and one that is not. */
  boxes: readonly [string, string];
  /** Between blocks, and between those of an item that has paragraphs, and of one that has none. */
  gap: string;
  itemGap: string;
  tightGap: string;
  hr: string;
}

/** Text without marks; other formats are made of it. */
export const PLAIN: TextFormat = {
  text: (text) => text,
  strong: (inner) => inner,
  em: (inner) => inner,
  del: (inner) => inner,
  code: (text) => text,
  link: ({ href, label, plain }) =>
    isSameLink(href, plain) ? label : label === "" ? href : `${label} (${href})`,
  br: () => "\n",
  lines: (inner) => inner,
  heading: (inner) => inner,
  codeBlock: (text) => text,
  quote: (inner) => prefixed(inner, "> ", "> "),
  table: (table, format) => cellsOf(table, format).map((row) => row.join(" | ")).join("\n"),
  item: (inner, marker, box) => prefixed(inner, marker + box, " ".repeat(marker.length)).trimEnd(),
  bullet: "-",
  boxes: ["[x] ", "[ ] "],
  list: (items, { loose }) => items.join(loose ? "\n\n" : "\n"),
  gap: "\n\n",
  itemGap: "\n\n",
  tightGap: "\n",
  hr: "---",
};

/** What stands in a table, row by row. */
export function cellsOf({ header, rows }: Tokens.Table, format = PLAIN): string[][] {
  return [header, ...rows].map((row) => row.map(({ tokens }) => renderInline(tokens, format)));
}

/** Between marks that count only beside a letter; blanks stay outside. */
export function wrapped(open: string, inner: string, close = open): string {
  const [, before, text, after] = /^(\s*)(.*?)(\s*)$/s.exec(inner)!;
  return text === "" ? inner : `${before}${open}${text}${close}${after}`;
}

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

/** Blocks as text of a format. */
export function blocksToText(tokens: readonly Token[], format: TextFormat): string {
  return joined(tokens, { format, depth: 0 });
}

/** Where blocks stand. */
interface Place {
  format: TextFormat;
  /** The quotes around them. */
  depth: number;
  isTight?: boolean;
}

function joined(tokens: readonly Token[], place: Place, gap = place.format.gap): string {
  return (tokens as readonly MarkdownToken[])
    .map((token) => block(token, place))
    .filter((text) => text !== undefined)
    .join(gap);
}

function block(token: MarkdownToken, { format, depth, isTight }: Place): string | undefined {
  switch (token.type) {
    case "space":
    case "def":
    case "checkbox":
      return undefined;
    case "heading":
      return format.heading(renderInline(token.tokens, format), token.depth);
    case "paragraph":
      return format.lines(renderInline(token.tokens, format));
    case "text":
      return format.lines(
        token.tokens === undefined ? format.text(token.text) : renderInline(token.tokens, format),
        isTight,
      );
    case "code":
      return format.codeBlock(token.text, token.lang ?? "");
    case "hr":
      return format.hr;
    case "blockquote":
      return format.quote(joined(token.tokens, { format, depth: depth + 1 }), depth);
    case "list":
      return list(token, { format, depth });
    case "table":
      return format.table(token, format);
    case "html":
      return format.lines(format.text(cleanText(token.raw).trimEnd()));
    default:
      return format.lines(renderInline([token], format));
  }
}

function list(token: Tokens.List, { format, depth }: Place): string {
  const { items, ordered, start, loose } = token;
  const written = items.map((item, index) => {
    const marker = ordered ? `${Number(start || 0) + index}. ` : `${format.bullet} `;
    const box = item.task ? format.boxes[item.checked ? 0 : 1] : "";
    const gap = item.loose ? format.itemGap : format.tightGap;
    return format.item(joined(item.tokens, { format, depth, isTight: !loose }, gap), marker, box);
  });
  return format.list(written, token);
}

function prefixed(text: string, first: string, rest: string): string {
  return text.split("\n").map((line, index) =>
    index === 0 ? first + line : line === "" ? rest.trimEnd() : rest + line
  ).join("\n");
}
