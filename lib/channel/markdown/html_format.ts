/**
 * Markdown as HTML of the elements of this file, without attributes but the addresses of links, and nothing
 * that the text brings along.
 *
 * @module
 */

import { isSafeLink } from "./render_markdown.ts";
import { cellsOf, PLAIN, type TextFormat } from "./to_plain_text.ts";

/** What differs between the readers of HTML. */
export interface HtmlStyle {
  /** Text for an element or an attribute in quotes. */
  escape(text: string): string;
  /** Stands between elements, and after a line break. */
  gap: "" | "\n";
  /** Of the element of a block of code, with the blank before them. */
  codeAttributes?(lang: string): string;
  /** A table of its rows. */
  table(header: string, rows: readonly string[]): string;
}

/** The format of `blocksToText`. Line ends that a person or a model typed are meant, in a chat. */
export function htmlFormat(
  { escape, gap, codeAttributes = () => "", table }: HtmlStyle,
): TextFormat {
  // The line end of a break that stands there is none of the text.
  const typed = gap === "" ? /\n/g : /(?<!<br>)\n/g;
  const row = (cells: readonly string[], name: "th" | "td") =>
    `<tr>${cells.map((cell) => `<${name}>${cell}</${name}>`).join("")}</tr>`;
  return {
    ...PLAIN,
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
    lines(inner, isTight = false) {
      const html = inner.replace(typed, `<br>${gap}`);
      return isTight ? html : `<p>${html}</p>`;
    },
    heading: (inner, depth) => `<h${depth}>${inner}</h${depth}>`,
    codeBlock: (text, lang) => `<pre><code${codeAttributes(lang)}>${escape(text)}\n</code></pre>`,
    quote: (inner) => `<blockquote>${gap}${inner}${gap}</blockquote>`,
    table(token, format) {
      const [header = [], ...rows] = cellsOf(token, format);
      return table(row(header, "th"), rows.map((cells) => row(cells, "td")));
    },
    item: (inner, _, box) => `<li>${box}${inner}</li>`,
    boxes: ["☑ ", "☐ "],
    list(items, { ordered, start }) {
      const from = ordered && Number(start) !== 1 ? ` start="${Number(start || 0)}"` : "";
      const name = ordered ? "ol" : "ul";
      return `<${name}${from}>${gap}${items.join(gap)}${gap}</${name}>`;
    },
    ...{ gap, itemGap: gap, tightGap: gap },
    hr: "<hr>",
  };
}
