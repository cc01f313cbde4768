/**
 * Takes reasoning that a model writes into its text between `<think>` or `<thought>` tags out of
 * it, while the text arrives in pieces that may end anywhere.
 *
 * How the text is cut into pieces never changes what comes out. Nothing is held back but what may
 * still become a tag, and white space at the beginning of a block, which is dropped there.
 *
 * An opening tag counts anywhere, unless a quote or a backtick stands right before it: then the
 * text speaks of the tag. A block that is never closed goes to the end.
 *
 * @module
 */

/** A piece of what a model said. */
export interface Said {
  type: "text" | "reasoning";
  text: string;
}

const NAMES = ["think", "thought"] as const;
const OPENING = NAMES.map((name) => `<${name}>`);
const QUOTES = new Set(["`", "'", '"']);

/** Splits one stream of text. Feed it with {@linkcode push}, and {@linkcode end} it once. */
export class ThinkTags {
  /** What may still become a tag. Shorter than the longest tag. */
  #held = "";
  /** White space at the beginning of a block, which is only kept if more follows. */
  #space = "";
  /** The tag that ends the reasoning, inside of it. */
  #closing: string | undefined;
  /** Whether the block at hand has begun, white space aside. */
  #begun = false;
  /** Whether any text was given out: white space after reasoning is dropped until then. */
  #spoke = false;
  /** The last character of text that went by. */
  #last = "";

  /** What the next piece of the text gives. */
  push(piece: string): Said[] {
    const out: Said[] = [];
    let rest = this.#held + piece;
    this.#held = "";
    while (rest !== "") {
      const at = rest.indexOf("<");
      if (at !== 0) {
        this.#say(out, at < 0 ? rest : rest.slice(0, at));
        rest = at < 0 ? "" : rest.slice(at);
        continue;
      }
      const tag = this.#tags().find((tag) => rest.startsWith(tag));
      if (tag !== undefined) {
        this.#turn(tag);
        rest = rest.slice(tag.length);
      } else if (this.#tags().some((tag) => tag.startsWith(rest))) {
        this.#held = rest;
        rest = "";
      } else {
        this.#say(out, "<");
        rest = rest.slice(1);
      }
    }
    return joined(out);
  }

  /** What is left when the text is over. */
  end(): Said[] {
    const out: Said[] = [];
    const held = this.#held;
    this.#held = "";
    if (held !== "") this.#say(out, held);
    // A text of nothing but white space is still what the model said.
    if (this.#closing === undefined && !this.#spoke && this.#space !== "" && this.#last === "") {
      out.push({ type: "text", text: this.#space });
    }
    this.#space = "";
    return joined(out);
  }

  /** Tags that mean something here. */
  #tags(): readonly string[] {
    if (this.#closing !== undefined) return [this.#closing];
    return QUOTES.has(this.#last) ? [] : OPENING;
  }

  #turn(tag: string): void {
    this.#closing = this.#closing === undefined ? `</${tag.slice(1)}` : undefined;
    this.#begun = this.#closing === undefined && this.#spoke;
    this.#space = "";
    this.#last = tag.at(-1)!;
  }

  #say(out: Said[], text: string): void {
    const type = this.#closing === undefined ? "text" : "reasoning";
    if (!this.#begun) {
      const trimmed = text.trimStart();
      if (trimmed === "") {
        this.#space += text;
        return;
      }
      // White space that begins the whole answer belongs to it; after a tag it is layout.
      text = type === "text" && this.#last === "" ? this.#space + text : trimmed;
      this.#space = "";
      this.#begun = true;
    }
    if (type === "text") this.#spoke = true;
    this.#last = text.at(-1)!;
    out.push({ type, text });
  }
}

function joined(pieces: readonly Said[]): Said[] {
  const out: Said[] = [];
  for (const { type, text } of pieces) {
    const previous = out.at(-1);
    if (previous?.type === type) previous.text += text;
    else out.push({ type, text });
  }
  return out;
}
