/**
 * Markdown as Discord reads it (developer documentation, "Message Formatting"), in messages that fit.
 *
 * @module
 */

import type { Token, Tokens } from "marked";
import {
  blocksToText,
  type InlineFormat,
  isSafeLink,
  isSameLink,
  lexMarkdown,
  type MarkdownToken,
  renderInline,
  splitMarkdown,
  toPlainText,
} from "../../../lib/channel/markdown/mod.ts";

/** Characters of a message: code points, as Discord counts them. */
export const MAX_CHARS = 2_000;

/** A source that is cut in smaller parts than this is not worth its marks. */
const LEAST_CHARS = 250;

/** Breaks up what would be a mark in code, where nothing can be escaped. */
const ZERO_WIDTH = "\u200B";

const INLINE: InlineFormat = {
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
  br: () => "\n",
};

/** How many characters Discord counts in a text. */
export function charsOf(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** One message; longer than Discord takes where the text is. Never throws. */
export function toDiscord(markdown: string): string {
  return blocks(lexMarkdown(markdown)).replaceAll(/[ \t]+$/gm, "").trim();
}

/** Parts of Markdown, none of which is longer than a message when it is written as Discord has it. */
export function splitForDiscord(markdown: string, maxChars = MAX_CHARS): string[] {
  return splitMarkdown(markdown, maxChars, "characters").flatMap((part) => fitted(part, maxChars));
}

/** The messages of a text; at most 2,000 characters each, none of them blank. */
export function toMessages(markdown: string): string[] {
  return splitForDiscord(markdown).map(renderPart).filter((text) => text !== "");
}

/** A part that `splitForDiscord` gave. */
export function renderPart(part: string): string {
  const text = toDiscord(part);
  return charsOf(text) <= MAX_CHARS ? text : escapeText(toPlainText(part)).trim();
}

function fitted(part: string, maxChars: number): string[] {
  if (charsOf(renderPart(part)) <= MAX_CHARS) return [part];
  const smaller = Math.floor(maxChars * 0.6);
  if (smaller >= LEAST_CHARS) return splitForDiscord(part, smaller);
  // Marks without end: a mark is escaped with one character, so that half as much of it fits.
  return splitMarkdown(toPlainText(part), MAX_CHARS / 8, "characters");
}

function blocks(tokens: readonly Token[]): string {
  return (tokens as readonly MarkdownToken[]).map(block).filter((text) => text !== undefined)
    .join("\n\n");
}

function block(token: MarkdownToken): string | undefined {
  switch (token.type) {
    case "space":
    case "def":
    case "checkbox":
      return undefined;
    case "heading": {
      const inner = renderInline(token.tokens, INLINE).replaceAll("\n", " ").trim();
      if (inner === "") return undefined;
      return token.depth <= 3 ? `${"#".repeat(token.depth)} ${inner}` : wrapped("**", inner);
    }
    case "paragraph":
      return lines(renderInline(token.tokens, INLINE));
    case "text":
      return lines(renderInline([token], INLINE));
    case "code":
      return codeBlock(token.text, token.lang ?? "");
    case "hr":
      return "──────────";
    case "blockquote":
      return blocks(token.tokens).split("\n").map((line) => `> ${line}`).join("\n");
    case "list":
      return list(token);
    case "table":
      return codeBlock(table(token), "");
    case "html":
      return lines(escapeText(token.raw.trimEnd()));
    default:
      return lines(renderInline([token], INLINE));
  }
}

function list({ items, ordered, start, loose }: Tokens.List): string {
  return items.map((item, index) => {
    const marker = ordered ? `${Number(start || 0) + index}. ` : "- ";
    const box = item.task ? item.checked ? "☑ " : "☐ " : "";
    const inner = (item.tokens as MarkdownToken[]).map(block).filter((text) => text !== undefined)
      .join("\n").trim();
    const rest = " ".repeat(marker.length);
    return (marker + box + inner).split("\n")
      .map((line, at) => at === 0 || line === "" ? line : rest + line).join("\n");
  }).join(loose ? "\n\n" : "\n");
}

/** Columns that stand below each other, as Discord has no tables. */
function table({ header, rows, align }: Tokens.Table): string {
  const plain = [header, ...rows].map((cells) =>
    cells.map(({ tokens }) =>
      blocksToText([{ type: "text", raw: "", text: "", tokens } as Token], PLAIN)
        .replaceAll(/\s+/g, " ").trim()
    )
  );
  const widths = header.map((_, column) =>
    Math.min(40, Math.max(3, ...plain.map((cells) => charsOf(cells[column] ?? ""))))
  );
  const written = plain.map((cells) =>
    widths.map((width, column) => {
      const cell = cells[column] ?? "";
      const gap = " ".repeat(Math.max(0, width - charsOf(cell)));
      return align[column] === "right" ? gap + cell : cell + gap;
    }).join("  ").trimEnd()
  );
  const rule = widths.map((width) => "─".repeat(width)).join("  ");
  return [written[0], rule, ...written.slice(1)].join("\n");
}

const PLAIN: InlineFormat = {
  text: (text) => text,
  strong: (inner) => inner,
  em: (inner) => inner,
  del: (inner) => inner,
  code: (text) => text,
  link: ({ href, label, plain }) =>
    isSameLink(href, plain) || !isSafeLink(href) ? label || href : `${label} (${href})`,
  br: () => " ",
};

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

function wrapped(mark: string, inner: string): string {
  const [, before, text, after] = /^(\s*)(.*?)(\s*)$/s.exec(inner)!;
  return text === "" ? inner : `${before}${mark}${text}${mark}${after}`;
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
