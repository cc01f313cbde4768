/**
 * The text of an HTML mail. What cannot be seen is left out, quotes keep their mark, and links their
 * address.
 *
 * @module
 */

/** Characters of HTML that are read. */
export const MAX_HTML_CHARS = 2 * 1024 * 1024;

/** Elements whose content is no text, or not to be seen. */
const SILENT = new Set([
  "head",
  "title",
  "style",
  "script",
  "noscript",
  "template",
  "svg",
  "object",
]);

/** Elements that begin on a line of their own. */
const BLOCKS = new Set([
  ...["address", "article", "aside", "blockquote", "body", "center", "dd", "div", "dl", "dt"],
  ...["footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav"],
  ...["ol", "p", "pre", "section", "table", "tr", "ul"],
]);

/** Of these, such as have an empty line before and after them. */
const SPACED = new Set([
  "p",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "ul",
  "ol",
  "table",
  "blockquote",
]);

/** Quotes in quotes that are marked. */
const MAX_DEPTH = 10;

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  copy: "©",
  reg: "®",
  trade: "™",
  hellip: "…",
  ndash: "–",
  mdash: "—",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  laquo: "«",
  raquo: "»",
  bull: "•",
  middot: "·",
  euro: "€",
  pound: "£",
  sect: "§",
  deg: "°",
  auml: "ä",
  ouml: "ö",
  uuml: "ü",
  Auml: "Ä",
  Ouml: "Ö",
  Uuml: "Ü",
  szlig: "ß",
  eacute: "é",
  egrave: "è",
  agrave: "à",
  ccedil: "ç",
  ntilde: "ñ",
  zwnj: "",
  zwj: "",
  shy: "",
};

/** See the module. Never throws, and takes time in proportion to the text. */
export function htmlToText(html: string): string {
  const out = new Lines();
  const source = html.slice(0, MAX_HTML_CHARS);
  let silent: string | undefined;
  let link: string | undefined;
  let pre = 0;
  for (let at = 0; at < source.length;) {
    const open = source.indexOf("<", at);
    const text = source.slice(at, open < 0 ? source.length : open);
    if (silent === undefined && text !== "") out.text(decodeEntities(text), pre > 0);
    if (open < 0) break;
    if (source.startsWith("<!--", open)) {
      const end = source.indexOf("-->", open + 4);
      if (end < 0) break;
      at = end + 3;
      continue;
    }
    const end = endOfTag(source, open);
    if (end === undefined) {
      // No tag at all: a lesser-than sign.
      if (silent === undefined) out.text("<", pre > 0);
      at = open + 1;
      continue;
    }
    at = end;
    const tag = /^<(\/?)([A-Za-z][A-Za-z0-9:-]*)/.exec(
      source.slice(open, Math.min(end, open + 64)),
    );
    if (tag === null) continue;
    const closing = tag[1] === "/";
    const name = tag[2]!.toLowerCase();
    if (silent !== undefined) {
      if (closing && name === silent) silent = undefined;
      continue;
    }
    if (!closing && SILENT.has(name)) {
      if (source[end - 2] !== "/") silent = name;
      continue;
    }
    if (name === "br") out.newline();
    else if (name === "hr") out.block(false);
    else if (name === "blockquote") out.quote(closing ? -1 : 1);
    else if (BLOCKS.has(name)) {
      out.block(SPACED.has(name));
      if (name === "li" && !closing) out.text("- ", true);
      if (name === "pre") pre = Math.max(0, pre + (closing ? -1 : 1));
    } else if (name === "td" || name === "th") {
      if (closing) out.text(" ", false);
    } else if (name === "a") {
      if (closing) {
        if (link !== undefined) out.link(link);
        link = undefined;
      } else {
        link = hrefOf(source.slice(open, end));
        out.beginLink();
      }
    }
  }
  return out.join();
}

/** Characters of a tag; what is not closed by then is none. */
const MAX_TAG_CHARS = 16 * 1024;

/** After the `>` that ends a tag, and none in a quoted value; undefined where none does. */
function endOfTag(source: string, open: number): number | undefined {
  if (!/[A-Za-z/!?]/.test(source[open + 1] ?? "")) return undefined;
  const limit = Math.min(source.length, open + MAX_TAG_CHARS);
  let quote = "";
  for (let at = open + 1; at < limit; at++) {
    const char = source[at]!;
    if (quote !== "") {
      if (char === quote) quote = "";
    } else if (char === ">") return at + 1;
    else if (char === "<") return undefined;
    else if ((char === '"' || char === "'") && source[at - 1] === "=") quote = char;
  }
  return undefined;
}

function hrefOf(tag: string): string | undefined {
  const match = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/i.exec(tag);
  const href = decodeEntities(match?.[1] ?? match?.[2] ?? match?.[3] ?? "").trim();
  return /^https?:\/\//i.test(href) && href.length <= 2_000 ? href : undefined;
}

/** Text with its character references replaced. */
export function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([A-Za-z]{2,8}));/g,
    (all, dec, hex, name) => {
      if (name !== undefined) return Object.hasOwn(NAMED, name) ? NAMED[name]! : all;
      const code = dec !== undefined ? Number(dec) : parseInt(hex, 16);
      const right = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
      return right ? String.fromCodePoint(code) : "\ufffd";
    },
  );
}

/** Lines as they come to be. */
class Lines {
  readonly #done: string[] = [];
  /** Put together when the line ends: a text that grows piece by piece would be copied each time. */
  #pieces: string[] = [];
  #last = "";
  #depth = 0;
  #linkFrom = 0;

  text(text: string, asIs: boolean): void {
    if (asIs) {
      const [first, ...rest] = text.split(/\r?\n/);
      this.#add(first!);
      for (const line of rest) {
        this.newline();
        this.#add(line);
      }
      return;
    }
    const plain = text.replace(/[\s\u00a0]+/g, " ");
    this.#add(this.#last === "" || this.#last === " " ? plain.trimStart() : plain);
  }

  newline(): void {
    const mark = this.#depth > 0 ? `${">".repeat(Math.min(this.#depth, MAX_DEPTH))} ` : "";
    this.#done.push(`${mark}${this.#pieces.join("")}`.trimEnd());
    this.#pieces = [];
    this.#last = "";
    this.#linkFrom = 0;
  }

  block(spaced: boolean): void {
    if (this.#pieces.length > 0) this.newline();
    if (spaced && this.#done.length > 0 && !/^[> ]*$/.test(this.#done.at(-1)!)) this.newline();
  }

  quote(by: number): void {
    // The empty line around a quote is no part of it.
    if (by > 0) this.block(true);
    else this.block(false);
    this.#depth = Math.max(0, this.#depth + by);
    if (by < 0) this.block(true);
  }

  beginLink(): void {
    this.#linkFrom = this.#pieces.length;
  }

  link(href: string): void {
    const shown = this.#pieces.slice(this.#linkFrom).join("").trim();
    if (shown !== "" && !href.includes(shown)) this.#add(` (${href})`);
  }

  join(): string {
    this.block(false);
    return this.#done.join("\n").replace(/\n{3,}/g, "\n\n").trim();
  }

  #add(piece: string): void {
    if (piece === "") return;
    this.#pieces.push(piece);
    this.#last = piece.at(-1)!;
  }
}
