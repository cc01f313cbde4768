/**
 * Messages of one client that are being worked on, and those that wait because too many are.
 *
 * @module
 */

import type { InMessage, MessageListener } from "./connection.ts";

/** Messages, and their bytes, that a client may have worked on at the same time. */
export const MAX_IN_HAND = 16;
export const MAX_IN_HAND_BYTES = 8 * 1024 * 1024;

interface Arrived {
  message: InMessage;
  bytes: number;
}

/** What an inbox does to its connection. */
export interface InboxDeps {
  /** Reads nothing more from the client, until `resume`. */
  pause(): void;
  resume(): void;
  /** Work on a message failed. */
  fail(error: unknown): void;
}

export class Inbox {
  readonly #deps: InboxDeps;
  /** What came in one read with the message that filled the hands; nothing is read after it. */
  readonly #waiting: Arrived[] = [];
  #listener: MessageListener | undefined;
  #working = 0;
  #workingBytes = 0;
  #waitingBytes = 0;
  #isPaused = false;
  #ended = false;

  constructor(deps: InboxDeps) {
    this.#deps = deps;
  }

  /** Bytes of messages that are worked on or wait. */
  get bytes(): number {
    return this.#workingBytes + this.#waitingBytes;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  listen(listener: MessageListener): void {
    this.#listener = listener;
    this.#go();
  }

  /** Takes a message of so many bytes. */
  add(message: InMessage, bytes: number): void {
    if (this.#ended) return;
    this.#waitingBytes += bytes;
    this.#waiting.push({ message, bytes });
    this.#go();
  }

  /** Delivers nothing any more. */
  end(): void {
    this.#ended = true;
    this.#waiting.length = 0;
    this.#waitingBytes = 0;
  }

  #go(): void {
    while (this.#listener !== undefined && !this.#isFull()) {
      const arrived = this.#waiting.shift();
      if (arrived === undefined) break;
      this.#waitingBytes -= arrived.bytes;
      this.#deliver(this.#listener, arrived);
    }
    const pauses = this.#waiting.length > 0 || this.#isFull();
    if (pauses === this.#isPaused || this.#ended) return;
    this.#isPaused = pauses;
    if (pauses) this.#deps.pause();
    else this.#deps.resume();
  }

  #isFull(): boolean {
    return this.#working >= MAX_IN_HAND || this.#workingBytes >= MAX_IN_HAND_BYTES;
  }

  #deliver(listener: MessageListener, { message, bytes }: Arrived): void {
    let work: void | Promise<void>;
    try {
      work = listener(message);
    } catch (error) {
      return this.#deps.fail(error);
    }
    if (!(work instanceof Promise)) return;
    this.#working++;
    this.#workingBytes += bytes;
    work.catch((error) => this.#deps.fail(error)).then(() => {
      this.#working--;
      this.#workingBytes -= bytes;
      if (!this.#ended) this.#go();
    });
  }
}
