/**
 * HTML as readable text: headings, paragraphs, lists, links with their addresses, preformatted text.
 *
 * One pass over the page, forward only, so that no page can make it slow. It reads no styles and runs
 * nothing: it is for a model to read, and never for a browser.
 *
 * @module
 */

import { decodeEntities } from "./entities.ts";

/** Elements whose content is no text of the page. */
const SILENT = new Set([
  "script",
  "style",
  "noscript",
  "template",
  "svg",
  "math",
  "iframe",
  "object",
  "select",
  "textarea",
]);

/** Elements that stand on lines of their own. */
const BLOCK = new Set(
  ("address article aside blockquote body dd details dialog div dl dt fieldset figcaption figure " +
    "footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody thead " +
    "tfoot tr ul title").split(" "),
);

/** Elements with an empty line around them. */
const SPACED = new Set("p h1 h2 h3 h4 h5 h6 pre blockquote table ul ol title hr".split(" "));

/** Levels of lists in lists that are shown as such. */
const MAX_INDENT = 8;
/** Longest tag that is read, characters; more is passed over. */
const MAX_TAG_CHARS = 16_384;

/** The text of a page. Addresses of links are made absolute with `baseUrl`. */
export function htmlToText(html: string, baseUrl: string): string {
  const out = new TextOut();
  let cells = 0;
  let lists = 0;
  let link: { href: string; at: number } | undefined;
  for (let at = 0; at < html.length;) {
    const open = html.indexOf("<", at);
    if (open === -1) {
      out.text(html.slice(at));
      break;
    }
    out.text(html.slice(at, open));
    if (html.startsWith("<!--", open)) {
      at = after(html, "-->", open + 4);
      continue;
    }
    const tag = readTag(html, open);
    if (tag === undefined) {
      out.text("<");
      at = open + 1;
      continue;
    }
    at = tag.end;
    const { name, isEnd } = tag;
    if (!isEnd && SILENT.has(name) && !tag.isEmpty) {
      at = afterElement(html, name, at);
      continue;
    }
    if (name === "br") out.line();
    if (name === "tr") cells = 0;
    if (!isEnd && (name === "td" || name === "th")) {
      // What stands in a cell may have ended its line.
      if (cells++ > 0) out.join(" | ");
    }
    if (name === "ul" || name === "ol") lists = isEnd ? Math.max(0, lists - 1) : lists + 1;
    if (BLOCK.has(name)) {
      SPACED.has(name) && !(lists > (isEnd ? 0 : 1) && /^[uo]l$/.test(name))
        ? out.paragraph()
        : out.line();
    }
    if (name === "pre" && out.preformatted === isEnd) {
      if (isEnd) out.fence();
      else out.raw("```\n");
      out.preformatted = !isEnd;
    }
    if (!isEnd && /^h[1-6]$/.test(name)) out.raw(`${"#".repeat(Number(name[1]))} `);
    if (!isEnd && name === "li") {
      out.raw(`${"  ".repeat(Math.min(Math.max(0, lists - 1), MAX_INDENT))}- `);
    }
    if (!isEnd && name === "img") {
      const alt = attribute(tag.text, "alt");
      if (alt) out.text(`[image: ${alt}]`);
    }
    if (name === "a") {
      if (link !== undefined) {
        if (out.length > link.at) out.raw(` (${link.href})`);
        link = undefined;
      }
      const href = isEnd ? undefined : linkAddress(attribute(tag.text, "href"), baseUrl);
      if (href !== undefined) link = { href, at: out.length };
    }
  }
  return out.done();
}

/** Collects text: blanks as one, lines where blocks begin and end. */
class TextOut {
  preformatted = false;
  #parts: string[] = [];
  #length = 0;
  /** Line ends that are owed before the next text. */
  #breaks = 0;
  #space = false;

  get length(): number {
    return this.#length;
  }

  text(source: string): void {
    if (source === "") return;
    const text = decodeEntities(source);
    if (this.preformatted) return this.raw(text);
    const words = text.replace(/[ \t\n\r\f\u00a0]+/g, " ");
    const trimmed = words.trim();
    if (words.startsWith(" ")) this.#space = true;
    if (trimmed !== "") this.raw(trimmed);
    if (words.endsWith(" ")) this.#space = true;
  }

  /** As it is, after the line ends and the blank that are owed. */
  raw(text: string): void {
    const isFirst = this.#length === 0;
    let lead = "";
    if (this.#breaks > 0 && !isFirst) lead = "\n".repeat(this.#breaks);
    else if (this.#space && !isFirst && !this.#atBlank()) lead = " ";
    this.#breaks = 0;
    this.#space = false;
    this.#parts.push(lead + text);
    this.#length += lead.length + text.length;
  }

  /** On the same line as what is before, whatever is owed. */
  join(text: string): void {
    this.#breaks = 0;
    this.#space = false;
    this.raw(text);
  }

  /** Ends what is preformatted, on a line of its own. */
  fence(): void {
    const isAtStart = this.#parts.at(-1)?.endsWith("\n") ?? false;
    this.#breaks = 0;
    this.#space = false;
    this.raw(isAtStart ? "```" : "\n```");
    this.paragraph();
  }

  line(): void {
    this.#breaks = Math.max(this.#breaks, 1);
  }

  paragraph(): void {
    this.#breaks = 2;
  }

  done(): string {
    return this.#parts.join("").trimEnd();
  }

  #atBlank(): boolean {
    return /\s$/.test(this.#parts.at(-1) ?? "");
  }
}

interface Tag {
  name: string;
  isEnd: boolean;
  isEmpty: boolean;
  text: string;
  /** Position behind it. */
  end: number;
}

/** The tag at a `<`; undefined when it is text after all. A `>` inside quotes does not end it. */
function readTag(html: string, open: number): Tag | undefined {
  const head = /^<(\/?)([a-zA-Z][a-zA-Z0-9-]*|[!?])/.exec(html.slice(open, open + 64));
  if (head === null) return undefined;
  let quote = "";
  const limit = Math.min(html.length, open + MAX_TAG_CHARS);
  for (let at = open + head[0].length; at < limit; at++) {
    const char = html[at]!;
    if (quote !== "") {
      if (char === quote) quote = "";
    } else if ((char === '"' || char === "'") && html[at - 1] === "=") {
      quote = char;
    } else if (char === ">") {
      const text = html.slice(open, at + 1);
      const name = head[2]!.toLowerCase();
      return { name, isEnd: head[1] === "/", isEmpty: text.endsWith("/>"), text, end: at + 1 };
    }
  }
  const end = after(html, ">", limit);
  return { name: head[2]!.toLowerCase(), isEnd: head[1] === "/", isEmpty: false, text: "", end };
}

/** Position behind an element's end tag, or the end of the page. */
function afterElement(html: string, name: string, from: number): number {
  const end = new RegExp(`</${name}[\\s/>]`, "gi");
  end.lastIndex = from;
  const match = end.exec(html);
  return match === null ? html.length : after(html, ">", match.index);
}

function after(html: string, text: string, from: number): number {
  const at = html.indexOf(text, from);
  return at === -1 ? html.length : at + text.length;
}

function attribute(tag: string, name: string): string | undefined {
  const match = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, "i").exec(
    tag,
  );
  const value = match?.[1] ?? match?.[2] ?? match?.[3];
  return value === undefined ? undefined : decodeEntities(value).trim();
}

/** An http or https address that leads somewhere else than into the same page. */
function linkAddress(href: string | undefined, baseUrl: string): string | undefined {
  if (href === undefined || href.startsWith("#")) return undefined;
  const url = URL.parse(href, baseUrl);
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : undefined;
}
