/**
 * Output of a running command as progress: a few times a second what has come since, and so much in all
 * and no more.
 *
 * @module
 */

import { MAX_PROGRESS_CHARS } from "./protocol.ts";

const INTERVAL_MS = 200;
/** Characters of progress that one command may say; more is dropped. */
const MAX_TOTAL_CHARS = 256 * 1024;

/** Takes bytes, gives texts. */
export class ProgressFeed {
  readonly #onProgress: (text: string) => void;
  readonly #decoder = new TextDecoder();
  #pending = "";
  #left = MAX_TOTAL_CHARS;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(onProgress: (text: string) => void) {
    this.#onProgress = onProgress;
  }

  push(chunk: Uint8Array): void {
    const room = MAX_PROGRESS_CHARS - this.#pending.length;
    if (this.#left <= 0 || chunk.length === 0) return;
    // What comes faster than anybody reads is left out of progress, not out of the result.
    if (room > 0) {
      const text = this.#decoder.decode(chunk.subarray(0, room), { stream: true });
      this.#pending += text.slice(0, this.#left);
      this.#left -= text.length;
    }
    this.#timer ??= setTimeout(() => this.#flush(), INTERVAL_MS);
  }

  /** Says what is left. */
  end(): void {
    this.#flush();
    this.#left = 0;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#pending;
    this.#pending = "";
    if (text !== "") this.#onProgress(text);
  }
}
