/**
 * How much of people's messages is kept in memory at the same time, over all that wait or run: some
 * hundred of the largest would be more than the heap has, and an exhausted heap ends the process.
 *
 * @module
 */

import type { InputPart, UserPart } from "../contract/messages.ts";
import { markedText } from "../contract/text_part.ts";

/** Characters of a share that is small: what people type, not what they attach. */
const SMALL_CHARS = 64 * 1024;

/** A number of characters of text and base64 that may be held. */
export class Room {
  readonly #maxChars: number;
  readonly #waiting = new Set<() => void>();
  #chars = 0;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** Characters that are held now. */
  get chars(): number {
    return this.#chars;
  }

  /**
   * Takes a share; the returned function, which may be called again, gives it back. Undefined when
   * there is not enough left; a quarter is left to small shares, so that large ones keep nobody out
   * who only wants to say something. `always`: beyond the bound too.
   */
  take(chars: number, { always = false } = {}): (() => void) | undefined {
    if (!always && !this.fits(chars)) return undefined;
    this.#chars += chars;
    let left = chars;
    return () => {
      this.#chars -= left;
      left = 0;
      for (const wake of this.#waiting) wake();
    };
  }

  /** Whether {@linkcode Room.take} would give such a share. */
  fits(chars: number): boolean {
    const maxChars = chars > SMALL_CHARS ? this.#maxChars * 0.75 : this.#maxChars;
    return this.#chars + chars <= maxChars;
  }

  /** Resolves when the next share is given back. Rejects with the signal's reason. */
  freed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const over = () => {
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", abort);
      };
      const wake = () => {
        over();
        resolve();
      };
      const abort = () => {
        over();
        reject(signal.reason);
      };
      this.#waiting.add(wake);
      signal.addEventListener("abort", abort);
    });
  }
}

/** What an input is in the request of a model, in characters: an image is sent as base64. */
export function inputChars(input: readonly (InputPart | UserPart)[]): number {
  let chars = 0;
  for (const part of input) {
    if (part.type === "text") chars += markedText(part).length;
    else if (part.type === "document") chars += part.text.length;
    else if ("data" in part) chars += part.data.length;
    else chars += ("file" in part ? part.file.bytes : part.bytes.length) * BASE64_CHARS_PER_BYTE;
  }
  return Math.ceil(chars);
}

const BASE64_CHARS_PER_BYTE = 4 / 3;
