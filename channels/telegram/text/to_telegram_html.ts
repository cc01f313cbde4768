/**
 * Markdown as the HTML that Telegram takes: its own few elements, which may not stand in each other in
 * every way, and line ends for everything else (Bot API, "HTML style").
 *
 * @module
 */

import type { Tokens } from "marked";
import {
  blocksToText,
  cellsOf,
  isSafeLink,
  isSameLink,
  lexMarkdown,
  PLAIN,
  type TextFormat,
} from "../../../lib/channel/markdown/mod.ts";

/** Columns of a table that a phone shows side by side; a wider one is not aligned. */
const MAX_TABLE_CHARS = 48;

/** A text in Telegram's HTML. Markup in the text is shown as it was written. Never throws. */
export function toTelegramHtml(markdown: string): string {
  return blocksToText(lexMarkdown(markdown), HTML).trim();
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

const HTML: TextFormat = {
  ...PLAIN,
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
  heading: (inner) => `<b>${inner.replace(/<\/?b>/g, "")}</b>`,
  codeBlock,
  // A quote in a quote is refused, so that the inner one is written with marks.
  quote: (inner, depth) =>
    depth === 0
      ? `<blockquote>${inner}</blockquote>`
      : inner.split("\n").map((line) => `&gt; ${line}`.trimEnd()).join("\n"),
  table,
  item: (inner, marker, box) => indented(marker + box + inner),
  bullet: "•",
  boxes: ["☑ ", "☐ "],
  hr: "———",
};

function codeBlock(text: string, lang: string): string {
  const name = /^[\w+#.-]{1,32}$/.exec(lang.trim().split(/\s/)[0]!)?.[0];
  const inner = escapeTelegram(text);
  if (inner === "") return "";
  return name === undefined
    ? `<pre>${inner}</pre>`
    : `<pre><code class="language-${name}">${inner}</code></pre>`;
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
function table(token: Tokens.Table): string {
  const lines = cellsOf(token).map((row) => row.map((cell) => cell.replaceAll("\n", " ")));
  const widths = token.header.map((_, at) =>
    Math.max(...lines.map((cells) => cells[at]?.length ?? 0))
  );
  const isNarrow = widths.reduce((sum, width) => sum + width + 3, 0) <= MAX_TABLE_CHARS;
  const written = lines.map((cells) =>
    cells.map((cell, at) => isNarrow ? cell.padEnd(widths[at]!) : cell).join(" | ").trimEnd()
  );
  if (isNarrow) written.splice(1, 0, widths.map((width) => "-".repeat(width)).join("-+-"));
  return `<pre>${escapeTelegram(written.join("\n"))}</pre>`;
}
