/**
 * HTML as text to read: paragraphs, lists, quotes, and links with their addresses.
 *
 * It goes by tags alone, builds no tree, and takes time in proportion to the source. Scripts and styles
 * are left out, never run.
 *
 * @module
 */

// Not its Parser: for elements deep in each other that takes quadratic time.
import { Tokenizer, type TokenizerCallbacks } from "htmlparser2";

export interface HtmlTextOptions {
  /** Address of the page, for relative links; without it they are left out. */
  baseUrl?: string;
  /** Marks headings, cells, code and images as Markdown does, and keeps the title. Default false. */
  markdown?: boolean;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** Elements whose content is not text to read. */
const SILENT = words("script style noscript template svg math iframe object select textarea");

/** Elements on lines of their own. */
const BLOCK = words(
  "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption " +
    "figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody " +
    "thead tfoot title tr ul",
);

/** Elements with an empty line around them. */
const SPACED = words("blockquote h1 h2 h3 h4 h5 h6 hr ol p pre table title ul");

/** Levels of lists and of quotes that are shown. */
const MAX_DEPTH = 8;
const MAX_HREF_CHARS = 8_192;
/** Soft hyphens, and non-joiners that newsletters fill up their first line with. */
const FILLERS: ReadonlySet<number> = new Set([0xad, 0x200c]);

/** The text of a page or a mail. Never throws. */
export function htmlToText(html: string, options: HtmlTextOptions = {}): string {
  const reader = new TagReader(html, options);
  const tokenizer = new Tokenizer({}, reader);
  tokenizer.write(html);
  tokenizer.end();
  return reader.out.toString();
}

class TagReader implements TokenizerCallbacks {
  readonly out = new TextOut();
  readonly #html: string;
  readonly #options: HtmlTextOptions;
  #tag = "";
  #attribute = "";
  #value = "";
  readonly #attributes = new Map<string, string>();
  /** The silent element that it is in. */
  #silent: string | undefined;
  #lists = 0;
  #cells = 0;
  #link: { href: string; typed: string; from: number } | undefined;

  constructor(html: string, options: HtmlTextOptions) {
    this.#html = html;
    this.#options = options;
  }

  ontext(start: number, end: number): void {
    if (this.#silent === undefined) this.out.text(this.#html.slice(start, end));
  }

  ontextentity(code: number): void {
    if (this.#silent !== undefined || FILLERS.has(code)) return;
    this.out.text(String.fromCodePoint(code));
  }

  onopentagname(start: number, end: number): void {
    this.#tag = this.#html.slice(start, end).toLowerCase();
    this.#attributes.clear();
  }

  onattribname(start: number, end: number): void {
    this.#attribute = this.#html.slice(start, end).toLowerCase();
    this.#value = "";
  }

  onattribdata(start: number, end: number): void {
    this.#value += this.#html.slice(start, end);
  }

  onattribentity(code: number): void {
    this.#value += String.fromCodePoint(code);
  }

  onattribend(): void {
    if (!this.#attributes.has(this.#attribute)) this.#attributes.set(this.#attribute, this.#value);
  }

  onopentagend(): void {
    if (this.#silent !== undefined) return;
    const isTitle = this.#tag === "title";
    if (SILENT.has(this.#tag) || (isTitle && !this.#options.markdown)) this.#silent = this.#tag;
    else this.#open(this.#tag);
  }

  onselfclosingtag(): void {
    if (this.#silent === undefined && !SILENT.has(this.#tag)) this.#open(this.#tag);
  }

  onclosetag(start: number, end: number): void {
    const name = this.#html.slice(start, end).toLowerCase();
    if (this.#silent === undefined) this.#close(name);
    else if (this.#silent === name) this.#silent = undefined;
  }

  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  #open(name: string): void {
    const { out } = this;
    const { markdown } = this.#options;
    if (name === "ul" || name === "ol") this.#lists++;
    this.#block(name, this.#lists > 1);
    switch (name) {
      case "br":
        return out.newline();
      case "blockquote":
        return out.quote(1);
      case "li":
        return out.raw(`${"  ".repeat(Math.min(Math.max(0, this.#lists - 1), MAX_DEPTH))}- `);
      case "a":
        return this.#openLink();
      case "tr":
        this.#cells = 0;
        return;
      case "td":
      case "th":
        if (this.#cells++ > 0) {
          if (markdown) out.join(" | ");
          else out.text(" ");
        }
        return;
      case "pre":
        if (!out.preformatted) {
          if (markdown) out.raw("```");
          out.line();
        }
        out.preformatted = true;
    }
    if (!markdown) return;
    if (/^h[1-6]$/.test(name)) out.raw(`${"#".repeat(Number(name[1]))} `);
    const alt = name === "img" ? this.#attributes.get("alt")?.trim() : "";
    if (alt) out.text(`[image: ${alt}]`);
  }

  #close(name: string): void {
    const { out } = this;
    if (name === "pre" && out.preformatted && this.#options.markdown) {
      out.line();
      out.raw("```");
    }
    if (name === "pre") out.preformatted = false;
    if (name === "ul" || name === "ol") this.#lists = Math.max(0, this.#lists - 1);
    this.#block(name, this.#lists > 0);
    if (name === "br") out.newline();
    if (name === "blockquote") out.quote(-1);
    if (name === "a") this.#closeLink();
  }

  /** Lists in lists have no empty line around them. */
  #block(name: string, isInList: boolean): void {
    if (!BLOCK.has(name)) return;
    if (SPACED.has(name) && !(isInList && /^[uo]l$/.test(name))) this.out.paragraph();
    else this.out.line();
  }

  #openLink(): void {
    this.#closeLink();
    const typed = this.#attributes.get("href")?.trim() ?? "";
    if (typed.startsWith("#") || typed.length > MAX_HREF_CHARS) return;
    const url = URL.parse(typed, this.#options.baseUrl);
    if (url === null || !/^https?:$/.test(url.protocol)) return;
    this.#link = { href: url.href, typed, from: this.out.parts };
  }

  /** Its address, where the text is not that already. */
  #closeLink(): void {
    if (this.#link === undefined) return;
    const { href, typed, from } = this.#link;
    this.#link = undefined;
    const shown = this.out.since(from).trim();
    if (shown !== "" && shown !== href && shown !== typed) this.out.text(` (${href})`);
  }
}

/** Collects text: blanks as one, and lines where blocks begin and end. */
class TextOut {
  preformatted = false;
  readonly #parts: string[] = [];
  /** Line ends and a blank that are owed before the next text. */
  #breaks = 0;
  #space = false;
  /** Quotes in quotes, and the fewest of them since the last text: so an empty line between is marked. */
  #quotes = 0;
  #fewest = 0;

  /** Count of its parts, for {@linkcode since}. */
  get parts(): number {
    return this.#parts.length;
  }

  since(parts: number): string {
    return this.#parts.slice(parts).join("");
  }

  text(text: string): void {
    if (this.preformatted) return this.#lines(text);
    const plain = text.replace(/\s+/g, " ");
    if (plain.startsWith(" ")) this.#space = true;
    if (plain.trim() !== "") this.raw(plain.trim());
    if (plain.endsWith(" ")) this.#space = true;
  }

  /** As it is, after what is owed. */
  raw(text: string): void {
    const mark = quoteMark(this.#quotes);
    const last = this.#parts.at(-1);
    let lead = "";
    if (last === undefined) lead = mark;
    else if (this.#breaks > 0) {
      lead = `\n${`${quoteMark(this.#fewest).trimEnd()}\n`.repeat(this.#breaks - 1)}${mark}`;
    } else if (this.#space && !last.endsWith(" ")) lead = " ";
    this.#breaks = 0;
    this.#space = false;
    this.#fewest = this.#quotes;
    this.#parts.push(lead + text);
  }

  /** On the same line as what is before, whatever is owed. */
  join(text: string): void {
    this.#breaks = 0;
    this.#space = false;
    this.raw(text);
  }

  newline(): void {
    this.#breaks = Math.min(2, this.#breaks + 1);
  }

  line(): void {
    this.#breaks = Math.max(1, this.#breaks);
  }

  paragraph(): void {
    this.#breaks = 2;
  }

  quote(by: 1 | -1): void {
    this.#quotes = Math.max(0, this.#quotes + by);
    this.#fewest = Math.min(this.#fewest, this.#quotes);
  }

  toString(): string {
    return this.#parts.join("").trimEnd();
  }

  #lines(text: string): void {
    text.split(/\r?\n/).forEach((line, at) => {
      if (at > 0) this.#breaks++;
      if (line !== "") this.raw(line);
    });
  }
}

function quoteMark(depth: number): string {
  return depth === 0 ? "" : `${">".repeat(Math.min(depth, MAX_DEPTH))} `;
}
