/**
 * Markdown as the HTML that Telegram takes: its own few elements, which may not stand in each other in
 * every way, and line ends for everything else (Bot API, "HTML style").
 *
 * @module
 */

import type { Token, Tokens } from "marked";
import {
  type InlineFormat,
  isSafeLink,
  isSameLink,
  lexMarkdown,
  type MarkdownToken,
  renderInline,
} from "../../../lib/channel/markdown/mod.ts";

/** Columns of a table that a phone shows side by side; a wider one is not aligned. */
const MAX_TABLE_CHARS = 48;

/** A text in Telegram's HTML. Markup in the text is shown as it was written. Never throws. */
export function toTelegramHtml(markdown: string): string {
  return blocks(lexMarkdown(markdown), { isQuoted: false }).trim();
}

/** Text for an element or an attribute. Control characters, which Telegram takes out, are left out. */
export function escapeTelegram(text: string): string {
  return text
    .replace(/(?![\n\t])\p{Cc}/gu, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** What a text of Telegram's HTML shows. */
export function shownText(html: string): string {
  return html
    .replace(/<[^>]*>/g, "")
    .replace(/&(lt|gt|quot|amp);/g, (_, name: string) => ENTITIES[name]!);
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', amp: "&" };

const INLINE: InlineFormat = {
  text: escapeTelegram,
  strong: (inner) => `<b>${inner}</b>`,
  em: (inner) => `<i>${inner}</i>`,
  del: (inner) => `<s>${inner}</s>`,
  code: (text) => `<code>${escapeTelegram(text)}</code>`,
  link({ href, label, plain }) {
    const shown = label === "" ? escapeTelegram(href) : label;
    if (isSameLink(href, plain)) return shown;
    // Telegram drops an address that it cannot open; a mail's it finds by itself.
    if (!isSafeLink(href) || /^mailto:/i.test(href)) {
      return `${shown} (${escapeTelegram(href.replace(/^mailto:/i, ""))})`;
    }
    // A link in what is code already would be refused.
    return `<a href="${escapeTelegram(href)}">${shown.replace(/<\/?a\b[^>]*>/g, "")}</a>`;
  },
  br: () => "\n",
};

/** Where a block stands. */
interface Place {
  /** A quote in a quote is refused, so that the inner one is written with marks. */
  isQuoted: boolean;
}

function blocks(tokens: readonly Token[], place: Place): string {
  return (tokens as readonly MarkdownToken[])
    .map((token) => block(token, place))
    .filter((html) => html !== undefined)
    .join("\n\n");
}

function block(token: MarkdownToken, place: Place): string | undefined {
  switch (token.type) {
    case "space":
    case "def":
    case "checkbox":
      return undefined;
    case "heading":
      return `<b>${renderInline(token.tokens, INLINE).replace(/<\/?b>/g, "")}</b>`;
    case "paragraph":
      return renderInline(token.tokens, INLINE);
    case "text":
      return renderInline([token], INLINE);
    case "code":
      return code(token);
    case "hr":
      return "———";
    case "blockquote":
      return quote(token, place);
    case "list":
      return list(token, place);
    case "table":
      return table(token);
    case "html":
      return escapeTelegram(token.raw.trimEnd());
    default:
      return renderInline([token], INLINE);
  }
}

function code({ text, lang }: Tokens.Code): string {
  const name = /^[\w+#.-]{1,32}$/.exec(lang?.trim().split(/\s/)[0] ?? "")?.[0];
  const inner = escapeTelegram(text);
  if (inner === "") return "";
  return name === undefined
    ? `<pre>${inner}</pre>`
    : `<pre><code class="language-${name}">${inner}</code></pre>`;
}

function quote({ tokens }: Tokens.Blockquote, { isQuoted }: Place): string {
  const inner = blocks(tokens, { isQuoted: true });
  return isQuoted
    ? inner.split("\n").map((line) => `&gt; ${line}`.trimEnd()).join("\n")
    : `<blockquote>${inner}</blockquote>`;
}

function list({ items, ordered, start, loose }: Tokens.List, place: Place): string {
  return items.map((item, index) => {
    const marker = ordered ? `${Number(start || 0) + index}. ` : "• ";
    const box = item.task ? item.checked ? "☑ " : "☐ " : "";
    const inner = (item.tokens as MarkdownToken[])
      .map((token) => block(token, place))
      .filter((html) => html !== undefined)
      .join(item.loose ? "\n\n" : "\n");
    return indented(marker + box + inner);
  }).join(loose ? "\n\n" : "\n");
}

/** Lines behind the first one, but those of code, which counts its blanks. */
function indented(html: string): string {
  let depth = 0;
  return html.split("\n").map((line, index) => {
    const isCode = depth > 0;
    depth += (line.match(/<pre>/g)?.length ?? 0) - (line.match(/<\/pre>/g)?.length ?? 0);
    return index === 0 || isCode || line === "" ? line : `  ${line}`;
  }).join("\n");
}

/** Telegram has none: as code, so that the columns stand below each other where they fit. */
function table({ header, rows }: Tokens.Table): string {
  const lines = [header, ...rows].map((cells) =>
    cells.map(({ tokens }) => shownText(renderInline(tokens, INLINE)).replaceAll("\n", " "))
  );
  const widths = header.map((_, at) => Math.max(...lines.map((cells) => cells[at]?.length ?? 0)));
  const isNarrow = widths.reduce((sum, width) => sum + width + 3, 0) <= MAX_TABLE_CHARS;
  const written = lines.map((cells) =>
    cells.map((cell, at) => isNarrow ? cell.padEnd(widths[at]!) : cell).join(" | ").trimEnd()
  );
  if (isNarrow) written.splice(1, 0, widths.map((width) => "-".repeat(width)).join("-+-"));
  return `<pre>${escapeTelegram(written.join("\n"))}</pre>`;
}
