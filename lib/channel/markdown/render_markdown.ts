/**
 * Walks the tokens of Markdown and hands each to a format, so that every format treats lists, quotes and
 * what it does not know alike.
 *
 * @module
 */

import { decodeHTMLStrict } from "entities/decode";
import type { Token } from "marked";
import type { MarkdownToken } from "./lex_markdown.ts";

/** How a format writes what is in a line. Each gets text of its own format but `text`, `code` and URLs. */
export interface InlineFormat {
  text(text: string): string;
  strong(inner: string): string;
  em(inner: string): string;
  del(inner: string): string;
  code(text: string): string;
  /** `label` is in the format, `plain` is what it says. */
  link(link: { href: string; label: string; plain: string }): string;
  br(): string;
}

/** What the inline tokens are in a format. */
export function renderInline(
  tokens: readonly Token[] | undefined,
  format: InlineFormat,
): string {
  return (tokens as readonly MarkdownToken[] ?? []).map((token) => inline(token, format)).join("");
}

function inline(token: MarkdownToken, format: InlineFormat): string {
  switch (token.type) {
    case "strong":
      return format.strong(renderInline(token.tokens, format));
    case "em":
      return format.em(renderInline(token.tokens, format));
    case "del":
      return format.del(renderInline(token.tokens, format));
    case "codespan":
      return format.code(token.text);
    case "br":
      return format.br();
    case "link":
      return format.link({
        href: token.autolink ? token.href : decodeHTMLStrict(token.href),
        label: renderInline(token.tokens, format),
        plain: decodeHTMLStrict(token.text),
      });
    case "image": {
      const plain = decodeHTMLStrict(token.text);
      return format.link({ href: decodeHTMLStrict(token.href), label: format.text(plain), plain });
    }
    case "escape":
      return format.text(token.text);
    case "text":
      // Text of a block holds inline tokens of its own.
      return token.tokens !== undefined
        ? renderInline(token.tokens, format)
        : format.text(decodeHTMLStrict(token.text));
    case "html":
      // Never markup: a line break is one, anything else is shown as it was written.
      return /^<br\s*\/?>$/i.test(token.raw.trim()) ? format.br() : format.text(token.raw);
    case "checkbox":
      return "";
    default:
      return format.text((token as Token).raw);
  }
}

/** Whether a link may be followed: those that name a page or an address to write to, and nothing else. */
export function isSafeLink(href: string): boolean {
  // Browsers leave out control characters and spaces around them.
  return /^(https?:\/\/|mailto:)[^\s\p{Cc}]+$/iu.test(href);
}
