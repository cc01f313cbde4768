/**
 * Markdown as Discord reads it (developer documentation, "Message Formatting"), in messages that fit.
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
  measureBy,
  PLAIN,
  splitToFit,
  type TextFormat,
  toPlainText,
  wrapped,
} from "../../../lib/channel/markdown/mod.ts";

/** Characters of a message: code points, as Discord counts them. */
export const MAX_CHARS = 2_000;

/** A source that is cut in smaller parts than this is not worth its marks. */
const LEAST_CHARS = 250;

/** Breaks up what would be a mark in code, where nothing can be escaped. */
const ZERO_WIDTH = "\u200B";

const DISCORD: TextFormat = {
  ...PLAIN,
  text: escapeText,
  strong: (inner) => wrapped("**", inner),
  em: (inner) => wrapped("*", inner),
  del: (inner) => wrapped("~~", inner),
  code: codeSpan,
  link({ href, label, plain }) {
    const shown = label.replaceAll("\n", " ");
    // Discord makes links of pages alone.
    if (!isSafeLink(href) || !/^https?:/i.test(href)) {
      return isSameLink(href, plain) ? shown : `${shown} (${escapeText(href)})`.trim();
    }
    // None of them belongs into an address, and each would mean something to what follows it.
    const address = href.replaceAll(/[<>\\`|]/g, encodeURIComponent);
    return shown === "" || isSameLink(href, plain) ? address : `[${shown}](<${address}>)`;
  },
  lines,
  heading(inner, depth) {
    const text = inner.replaceAll("\n", " ").trim();
    if (text === "") return undefined;
    return depth <= 3 ? `${"#".repeat(depth)} ${text}` : wrapped("**", text);
  },
  codeBlock,
  // Discord has none.
  table: (table) => codeBlock(columns(table), ""),
  boxes: ["☑ ", "☐ "],
  itemGap: "\n",
  hr: "──────────",
};

/** How many characters Discord counts in a text. */
export const charsOf = measureBy("characters");

/** One message; longer than Discord takes where the text is. Never throws. */
export function toDiscord(markdown: string): string {
  return blocksToText(lexMarkdown(markdown), DISCORD).replaceAll(/[ \t]+$/gm, "").trim();
}

/** Parts of Markdown that each fit one message as Discord has it; none for a text of which nothing is shown. */
export function splitForDiscord(markdown: string): string[] {
  const fits = (part: string) =>
    charsOf(toDiscord(part)) <= MAX_CHARS || charsOf(part) < LEAST_CHARS;
  return splitToFit(markdown, MAX_CHARS, "characters", fits)
    .filter((part) => renderPart(part) !== "");
}

/** A part that `splitForDiscord` gave. */
export function renderPart(part: string): string {
  const text = toDiscord(part);
  return charsOf(text) <= MAX_CHARS ? text : escapeText(toPlainText(part)).trim();
}

/** A table whose columns stand below each other. */
function columns(table: Tokens.Table): string {
  const plain = cellsOf(table).map((row) => row.map((cell) => cell.replaceAll(/\s+/g, " ").trim()));
  const widths = table.header.map((_, column) =>
    Math.min(40, Math.max(3, ...plain.map((row) => charsOf(row[column] ?? ""))))
  );
  const written = plain.map((row) =>
    widths.map((width, column) => {
      const cell = row[column] ?? "";
      const gap = " ".repeat(Math.max(0, width - charsOf(cell)));
      return table.align[column] === "right" ? gap + cell : cell + gap;
    }).join("  ").trimEnd()
  );
  const rule = widths.map((width) => "─".repeat(width)).join("  ");
  return [written[0], rule, ...written.slice(1)].join("\n");
}

function codeBlock(text: string, lang: string): string {
  const [word = ""] = /^[\w+#.-]{1,30}/.exec(lang) ?? [];
  const inner = text.replaceAll(/`{3,}/g, apart);
  return `\`\`\`${word}\n${inner.endsWith("`") ? inner + ZERO_WIDTH : inner}\n\`\`\``;
}

function codeSpan(text: string): string {
  if (text.trim() === "") return text;
  if (!text.includes("`")) return `\`${text}\``;
  return `\`\` ${text.replaceAll(/`{2,}/g, apart)} \`\``;
}

/** Marks that stand together no more. */
function apart(marks: string): string {
  return [...marks].join(ZERO_WIDTH);
}

/** Text without marks: no mark of Discord's is left: no mention, emoji, time, spoiler or style. */
export function escapeText(text: string): string {
  return text.replaceAll(/[\\*_~|`<[\]]/g, "\\$&");
}

/** What would begin a heading, a quote, a list or small print is text at the beginning of a line, too. */
function lines(text: string): string {
  return text.replaceAll(/^([ \t]*)(#{1,3}(?=\s)|>{1,3}(?=\s)|[-+](?=[\s#])|\d+(?=\.\s))/gm, (
    _,
    blanks: string,
    mark: string,
  ) => /\d/.test(mark) ? `${blanks}${mark}\\` : `${blanks}\\${mark}`);
}
