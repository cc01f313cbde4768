/**
 * Markdown as HTML that is safe in an email: elements of this file, without attributes but the addresses
 * of links, and nothing that the text brings along.
 *
 * @module
 */

import type { Token, Tokens } from "marked";
import { lexMarkdown, type MarkdownToken } from "./lex_markdown.ts";
import { type InlineFormat, isSafeLink, renderInline } from "./render_markdown.ts";

const HTML: InlineFormat = {
  text: escapeHtml,
  strong: (inner) => `<strong>${inner}</strong>`,
  em: (inner) => `<em>${inner}</em>`,
  del: (inner) => `<del>${inner}</del>`,
  code: (text) => `<code>${escapeHtml(text)}</code>`,
  link({ href, label, plain }) {
    // Pictures too: one that is fetched tells its server who reads the mail.
    const shown = label === "" ? escapeHtml(href) : label;
    if (isSafeLink(href)) return `<a href="${escapeHtml(href)}">${shown}</a>`;
    return href === "" || href === plain ? shown : `${shown} (${escapeHtml(href)})`;
  },
  br: () => "<br>\n",
};

/**
 * A text as HTML, without the elements of a whole document. Markup in the text is shown as it was
 * written; links lead to http, https and mailto alone. Takes bounded time; never throws.
 */
export function toHtml(markdown: string): string {
  return blocks(lexMarkdown(markdown));
}

/** Text for an element or an attribute in quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
}

function blocks(tokens: readonly Token[]): string {
  return (tokens as readonly MarkdownToken[]).map(block).filter((html) => html !== "").join("\n");
}

function block(token: MarkdownToken): string {
  switch (token.type) {
    case "space":
    case "def":
    case "checkbox":
      return "";
    case "heading":
      return `<h${token.depth}>${renderInline(token.tokens, HTML)}</h${token.depth}>`;
    case "paragraph":
      return `<p>${lines(renderInline(token.tokens, HTML))}</p>`;
    case "code":
      return `<pre><code>${escapeHtml(token.text)}\n</code></pre>`;
    case "hr":
      return "<hr>";
    case "blockquote":
      return `<blockquote>\n${blocks(token.tokens)}\n</blockquote>`;
    case "list":
      return list(token);
    case "table":
      return table(token);
    case "html":
      return `<p>${lines(escapeHtml(token.raw.trimEnd()))}</p>`;
    case "text":
      return `<p>${lines(renderInline([token], HTML))}</p>`;
    default:
      return `<p>${renderInline([token], HTML)}</p>`;
  }
}

/** Line ends that a person or a model typed are meant, in a chat. */
function lines(html: string): string {
  return html.replace(/(?<!<br>)\n/g, "<br>\n");
}

function list({ items, ordered, start, loose }: Tokens.List): string {
  const from = ordered && Number(start) !== 1 ? ` start="${Number(start || 0)}"` : "";
  const name = ordered ? "ol" : "ul";
  const inner = items.map((item) => {
    const box = item.task ? item.checked ? "☑ " : "☐ " : "";
    const content = (item.tokens as MarkdownToken[])
      // A tight item holds text and no paragraphs.
      .map((token) =>
        token.type === "text" && !loose ? lines(renderInline([token], HTML)) : block(token)
      )
      .filter((html) => html !== "")
      .join("\n");
    return `<li>${box}${content}</li>`;
  });
  return `<${name}${from}>\n${inner.join("\n")}\n</${name}>`;
}

function table({ header, rows }: Tokens.Table): string {
  const row = (cells: Tokens.TableCell[], name: "th" | "td") =>
    `<tr>${
      cells.map((cell) => `<${name}>${renderInline(cell.tokens, HTML)}</${name}>`).join("")
    }</tr>`;
  return `<table>\n${[row(header, "th"), ...rows.map((cells) => row(cells, "td"))].join("\n")}\n` +
    "</table>";
}
