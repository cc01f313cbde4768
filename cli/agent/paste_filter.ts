/**
 * Keeps a pasted text together: a terminal in bracketed paste mode (`ESC [ ? 2004 h`) marks what was
 * pasted, and the line ends in it are no Enter keys.
 *
 * @module
 */

/** Stands for a line end inside an edited line. */
export const LINE_MARK = "\u2424";

const BEGIN = "\x1b[200~";
const END = "\x1b[201~";

/** Rewrites what a terminal sends; the marks of a paste may be split between chunks. */
export class PasteFilter {
  #pasting = false;
  /** What may be the beginning of a mark. */
  #held = "";

  /** What the line editor is to get of this chunk. */
  filter(chunk: string): string {
    let rest = this.#held + chunk;
    this.#held = "";
    let result = "";
    while (rest !== "") {
      const mark = this.#pasting ? END : BEGIN;
      const at = rest.indexOf(mark);
      if (at >= 0) {
        result += this.#plain(rest.slice(0, at));
        rest = rest.slice(at + mark.length);
        this.#pasting = !this.#pasting;
        continue;
      }
      const partial = partialMark(rest, mark, this.#pasting);
      this.#held = rest.slice(rest.length - partial);
      result += this.#plain(rest.slice(0, rest.length - partial));
      rest = "";
    }
    return result;
  }

  #plain(text: string): string {
    if (!this.#pasting) return text;
    const lines = text.replace(/\r\n?|\n/g, LINE_MARK).replace(/\t/g, "  ");
    // Any other control character in a paste would act as a key.
    // deno-lint-ignore no-control-regex
    return lines.replace(/[\x00-\x1f\x7f]/g, "");
  }
}

/**
 * How many characters at the end may begin the mark. Outside of a paste a lone ESC is the key: it is
 * not held back, as its mark always comes in one piece with it.
 */
function partialMark(text: string, mark: string, pasting: boolean): number {
  const least = pasting ? 1 : 3;
  for (let length = Math.min(mark.length - 1, text.length); length >= least; length--) {
    if (text.endsWith(mark.slice(0, length))) return length;
  }
  return 0;
}
