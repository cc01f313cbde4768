/**
 * Markdown as HTML of the elements of this file, without attributes but the addresses of links, and nothing
 * that the text brings along.
 *
 * @module
 */

import type { Token, Tokens } from "marked";
import type { MarkdownToken } from "./lex_markdown.ts";
import { type InlineFormat, isSafeLink, renderInline } from "./render_markdown.ts";

/** What differs between the readers of HTML. */
export interface HtmlStyle {
  /** Text for an element or an attribute in quotes. */
  escape(text: string): string;
  /** Stands between elements, and after a line break. */
  gap: "" | "\n";
  /** Of the element of a block of code, with the blank before them. */
  codeAttributes?(code: Tokens.Code): string;
  /** A table of its rows. */
  table(header: string, rows: readonly string[]): string;
}

/** The parts of a text as HTML. */
export interface HtmlRenderer {
  blocks(tokens: readonly Token[]): string;
  /** Line ends that a person or a model typed are meant, in a chat. */
  lines(tokens: readonly Token[]): string;
}

/** Takes bounded time for each text; never throws. */
export function htmlRenderer(
  { escape, gap, codeAttributes = () => "", table }: HtmlStyle,
): HtmlRenderer {
  const format: InlineFormat = {
    text: escape,
    strong: (inner) => `<strong>${inner}</strong>`,
    em: (inner) => `<em>${inner}</em>`,
    del: (inner) => `<del>${inner}</del>`,
    code: (text) => `<code>${escape(text)}</code>`,
    link({ href, label, plain }) {
      // Pictures too: one that is fetched tells its server who reads the text.
      const shown = label === "" ? escape(href) : label;
      if (isSafeLink(href)) return `<a href="${escape(href)}">${shown}</a>`;
      return href === "" || href === plain ? shown : `${shown} (${escape(href)})`;
    },
    br: () => `<br>${gap}`,
  };
  const inline = (tokens: readonly Token[]) => renderInline(tokens, format);
  // The line end of a break that stands there is none of the text.
  const typed = gap === "" ? /\n/g : /(?<!<br>)\n/g;
  const broken = (html: string) => html.replace(typed, `<br>${gap}`);
  const lines = (tokens: readonly Token[]) => broken(inline(tokens));
  const joined = (parts: readonly string[]) => parts.filter((html) => html !== "").join(gap);
  const blocks = (tokens: readonly Token[]): string =>
    joined((tokens as readonly MarkdownToken[]).map(block));

  function block(token: MarkdownToken): string {
    switch (token.type) {
      case "space":
      case "def":
      case "checkbox":
        return "";
      case "heading":
        return `<h${token.depth}>${inline(token.tokens)}</h${token.depth}>`;
      case "paragraph":
        return `<p>${lines(token.tokens)}</p>`;
      case "code":
        return `<pre><code${codeAttributes(token)}>${escape(token.text)}\n</code></pre>`;
      case "hr":
        return "<hr>";
      case "blockquote":
        return `<blockquote>${gap}${blocks(token.tokens)}${gap}</blockquote>`;
      case "list":
        return list(token);
      case "table":
        return table(row(token.header, "th"), token.rows.map((cells) => row(cells, "td")));
      case "html":
        return `<p>${broken(escape(token.raw.trimEnd()))}</p>`;
      case "text":
        return `<p>${lines([token])}</p>`;
      default:
        return `<p>${inline([token])}</p>`;
    }
  }

  function list({ items, ordered, start, loose }: Tokens.List): string {
    const from = ordered && Number(start) !== 1 ? ` start="${Number(start || 0)}"` : "";
    const name = ordered ? "ol" : "ul";
    const inner = items.map((item) => {
      const box = item.task ? item.checked ? "☑ " : "☐ " : "";
      // A tight item holds text and no paragraphs.
      const content = (item.tokens as MarkdownToken[]).map((token) =>
        token.type === "text" && !loose ? lines([token]) : block(token)
      );
      return `<li>${box}${joined(content)}</li>`;
    });
    return `<${name}${from}>${gap}${inner.join(gap)}${gap}</${name}>`;
  }

  function row(cells: readonly Tokens.TableCell[], name: "th" | "td"): string {
    const inner = cells.map((cell) => `<${name}>${inline(cell.tokens)}</${name}>`);
    return `<tr>${inner.join("")}</tr>`;
  }

  return { blocks, lines };
}
