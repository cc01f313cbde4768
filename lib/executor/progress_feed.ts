/**
 * Output of a running command as progress: a few times a second what has come since, and so much in all
 * and no more.
 *
 * @module
 */

import { MAX_PROGRESS_CHARS } from "../rpc/checks.ts";

const INTERVAL_MS = 200;
/** A command that is silent for long is at work, not stuck: a turn without a sign of life is ended. */
const SILENCE_MS = 30_000;
/** Characters of progress that one command may say; more is dropped. */
const MAX_TOTAL_CHARS = 256 * 1024;

/** Takes bytes, gives texts. */
export class ProgressFeed {
  readonly #onProgress: (text: string) => void;
  readonly #decoder = new TextDecoder();
  #pending = "";
  #left = MAX_TOTAL_CHARS;
  /** What came last was left out. */
  #isGap = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #heartbeat: ReturnType<typeof setInterval>;
  #quietMs = 0;
  #hasSpoken = false;

  /** `end()` has to be called. */
  constructor(onProgress: (text: string) => void, silenceMs = SILENCE_MS) {
    this.#onProgress = onProgress;
    this.#heartbeat = setInterval(() => {
      this.#quietMs = this.#hasSpoken ? 0 : this.#quietMs + silenceMs;
      this.#hasSpoken = false;
      if (this.#quietMs > 0) {
        this.#onProgress(`[still running, nothing new for ${this.#quietMs / 1_000} s]\n`);
      }
    }, silenceMs);
  }

  push(chunk: Uint8Array): void {
    const room = MAX_PROGRESS_CHARS - this.#pending.length;
    if (this.#left <= 0 || chunk.length === 0) return;
    // What comes faster than anybody reads is left out of progress, not out of the result.
    const told = this.#isGap ? afterBlank(chunk) : chunk;
    this.#isGap = told.length === 0 || room < told.length;
    if (room > 0 && told.length > 0) {
      const fits = this.#isGap ? beforeBlank(told.subarray(0, room)) : told;
      const text = this.#decoder.decode(fits, { stream: true });
      this.#pending += text.length <= this.#left
        ? text
        : text.slice(0, this.#left).replace(/\S*$/, "");
      this.#left -= text.length;
    }
    this.#timer ??= setTimeout(() => this.#flush(), INTERVAL_MS);
  }

  /** Says what is left. */
  end(): void {
    clearInterval(this.#heartbeat);
    this.#flush();
    this.#left = 0;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#pending;
    this.#pending = "";
    if (text === "") return;
    this.#hasSpoken = true;
    this.#onProgress(text);
  }
}

/**
 * Where something is left out, no word is said in part: by half of it nobody knows a secret again. Of a
 * word that fills a chunk nothing is said.
 */
function beforeBlank(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, bytes.findLastIndex(isBlank) + 1);
}

function afterBlank(bytes: Uint8Array): Uint8Array {
  const at = bytes.findIndex(isBlank);
  return at === -1 ? bytes.subarray(bytes.length) : bytes.subarray(at);
}

function isBlank(byte: number): boolean {
  return byte === 0x0a || byte === 0x0d || byte === 0x20 || byte === 0x09;
}
