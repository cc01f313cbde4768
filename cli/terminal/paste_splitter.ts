/**
 * Tells what is pasted from what is typed: a terminal in bracketed paste mode (`ESC [ ? 2004 h`) marks a
 * paste, so that the line ends in it are no Enter keys.
 *
 * @module
 */

const BEGIN = "\x1b[200~";
const END = "\x1b[201~";

/** Keys, or a whole paste. */
export interface TypedText {
  text: string;
  isPasted: boolean;
}

/** Takes what a terminal sends apart; the marks of a paste may be split between chunks. */
export class PasteSplitter {
  /** What has come of a paste; undefined outside of one. */
  #pasted: string | undefined;
  /** What may be the beginning of a mark. */
  #held = "";

  /** A paste is given once it is whole. */
  take(chunk: string): TypedText[] {
    const taken: TypedText[] = [];
    let rest = this.#held + chunk;
    for (;;) {
      const mark = this.#pasted === undefined ? BEGIN : END;
      const at = rest.indexOf(mark);
      const end = at < 0 ? rest.length - partialMark(rest, mark) : at;
      this.#add(rest.slice(0, end), taken);
      if (at < 0) {
        this.#held = rest.slice(end);
        return taken;
      }
      rest = rest.slice(at + mark.length);
      if (this.#pasted === undefined) this.#pasted = "";
      else {
        if (this.#pasted !== "") taken.push({ text: this.#pasted, isPasted: true });
        this.#pasted = undefined;
      }
    }
  }

  #add(text: string, taken: TypedText[]): void {
    if (this.#pasted !== undefined) this.#pasted += text;
    else if (text !== "") taken.push({ text, isPasted: false });
  }
}

/**
 * How many characters at the end may begin the mark. Outside of a paste a lone ESC is a key: it is not held
 * back, as its mark always comes in one piece with it.
 */
function partialMark(text: string, mark: string): number {
  const least = mark === END ? 1 : 3;
  for (let length = Math.min(mark.length - 1, text.length); length >= least; length--) {
    if (text.endsWith(mark.slice(0, length))) return length;
  }
  return 0;
}
