/**
 * Markdown as the HTML that Matrix clients show: the elements and attributes of "m.room.message msgtypes"
 * in the client-server API and no others. What a text brings along as markup is shown as it was written.
 *
 * @module
 */

import type { Token, Tokens } from "marked";
import {
  type InlineFormat,
  isSafeLink,
  lexMarkdown,
  type MarkdownToken,
  renderInline,
} from "../../../lib/channel/markdown/mod.ts";

const HTML: InlineFormat = {
  text: escapeText,
  strong: (inner) => `<strong>${inner}</strong>`,
  em: (inner) => `<em>${inner}</em>`,
  del: (inner) => `<del>${inner}</del>`,
  code: (text) => `<code>${escapeText(text)}</code>`,
  link({ href, label, plain }) {
    // Pictures too: clients show those of the media repository alone.
    const shown = label === "" ? escapeText(href) : label;
    if (isSafeLink(href)) return `<a href="${escapeText(href)}">${shown}</a>`;
    return href === "" || href === plain ? shown : `${shown} (${escapeText(href)})`;
  },
  br: () => "<br>",
};

/** The text as HTML, without anything around it. Takes bounded time; never throws. */
export function toMatrixHtml(markdown: string): string {
  const tokens = lexMarkdown(markdown) as readonly MarkdownToken[];
  const shown = tokens.filter(({ type }) => type !== "space" && type !== "def");
  const [only] = shown;
  // A line alone stands as it is: clients put room around paragraphs.
  if (shown.length === 1 && (only!.type === "paragraph" || only!.type === "text")) {
    return lines(renderInline([only as Token].flatMap(inlineOf), HTML));
  }
  return blocks(shown);
}

/** Text for an element or an attribute in quotes; without characters that no HTML may have. */
export function escapeText(text: string): string {
  return text
    // deno-lint-ignore no-control-regex -- they are what is taken out
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, "\uFFFD")
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll(
      '"',
      "&quot;",
    );
}

function inlineOf(token: Token): Token[] {
  return token.type === "paragraph" ? (token as Tokens.Paragraph).tokens : [token];
}

function blocks(tokens: readonly Token[]): string {
  return (tokens as readonly MarkdownToken[]).map(block).join("");
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
      return `<pre><code${languageOf(token)}>${escapeText(token.text)}\n</code></pre>`;
    case "hr":
      return "<hr>";
    case "blockquote":
      return `<blockquote>${blocks(token.tokens)}</blockquote>`;
    case "list":
      return list(token);
    case "table":
      return table(token);
    case "html":
      return `<p>${lines(escapeText(token.raw.trimEnd()))}</p>`;
    case "text":
      return `<p>${lines(renderInline([token], HTML))}</p>`;
    default:
      return `<p>${renderInline([token], HTML)}</p>`;
  }
}

/** Clients colour code by it. */
function languageOf({ lang }: Tokens.Code): string {
  const [, name] = /^([A-Za-z0-9_+#.-]{1,40})/.exec(lang ?? "") ?? [];
  return name === undefined ? "" : ` class="language-${name}"`;
}

/** Line ends that a person or a model typed are meant, in a chat. */
function lines(html: string): string {
  return html.replaceAll("\n", "<br>");
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
      .join("");
    return `<li>${box}${content}</li>`;
  });
  return `<${name}${from}>${inner.join("")}</${name}>`;
}

function table({ header, rows }: Tokens.Table): string {
  const row = (cells: Tokens.TableCell[], name: "th" | "td") =>
    `<tr>${
      cells.map((cell) => `<${name}>${renderInline(cell.tokens, HTML)}</${name}>`).join("")
    }</tr>`;
  return `<table><thead>${row(header, "th")}</thead><tbody>${
    rows.map((cells) => row(cells, "td")).join("")
  }</tbody></table>`;
}
