/**
 * A stream of server-sent events with back-pressure: what is written waits in a bounded buffer until
 * the reader takes it, all of it in one piece. While nothing is written, a comment keeps proxies from
 * cutting the connection.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import type { Clock } from "../base/clock.ts";

/** Milliseconds of silence after which a comment is sent. */
export const KEEP_ALIVE_MS = 15_000;

/** Headers of an event stream; the last two keep proxies from holding it back. */
export const EVENT_STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
} as const;

/** How a stream came to its end: the reader got all of it, or left before. */
export type StreamOutcome = "ended" | "cancelled";

/** What a stream needs. */
export interface EventStreamOptions {
  clock: Clock;
  /** Called once, when the last byte was taken or the reader left. */
  onEnd: (outcome: StreamOutcome) => void;
  /** Default {@linkcode KEEP_ALIVE_MS}. */
  keepAliveMs?: number;
  /** Characters that may wait for the reader before a writer has to; default 65,536. */
  maxWaitingChars?: number;
}

/** Characters that are turned into bytes at a time. */
const MAX_SLICE_CHARS = 256 * 1024;

const COMMENT = ": keep-alive\n\n";
const encoder = new TextEncoder();

/** One stream. Writers are told to wait; a text is never split, dropped or reordered. */
export class EventStream {
  /** For the response; it never fails, it only ends. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #options: Required<EventStreamOptions>;
  #waiting = "";
  #reader: (() => void) | undefined;
  #waking = false;
  #writers: (() => void)[] = [];
  #closed = false;
  #finished = false;
  #lastTakenMs: number;
  #cancelTimer: () => void = () => {};

  constructor(options: EventStreamOptions) {
    this.#options = { keepAliveMs: KEEP_ALIVE_MS, maxWaitingChars: 65_536, ...options };
    this.#lastTakenMs = options.clock.elapsed();
    // No chunk ahead of the reader: the buffer is ours, so that it can be merged and counted.
    this.body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull: (controller) => this.#pull(controller),
      cancel: () => this.#finish("cancelled"),
    }, { highWaterMark: 0 });
    this.#armKeepAlive(this.#options.keepAliveMs);
  }

  /** Characters that the reader has not taken yet. */
  get waitingChars(): number {
    return this.#waiting.length;
  }

  /**
   * Adds whole events, blank line included. Returns undefined, or, when the buffer is full, a
   * promise that resolves once there is room or the stream is over. After the end it does nothing.
   */
  write(events: string): Promise<void> | undefined {
    if (this.#closed || this.#finished) return undefined;
    this.#waiting += events;
    this.#wakeReaderSoon();
    if (this.#waiting.length <= this.#options.maxWaitingChars) return undefined;
    return new Promise((resolve) => this.#writers.push(resolve));
  }

  /** Ends the stream after what was written. */
  close(): void {
    this.#closed = true;
    this.#cancelTimer();
    this.#wakeReaderSoon();
    this.#releaseWriters();
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): Promise<void> {
    if (this.#waiting === "" && !this.#closed) {
      await new Promise<void>((resolve) => this.#reader = resolve);
    }
    if (this.#finished) return;
    if (this.#waiting !== "") {
      // A slow reader of an event of megabytes holds its text once, not as bytes too.
      const end = sliceEnd(this.#waiting, MAX_SLICE_CHARS);
      controller.enqueue(encoder.encode(this.#waiting.slice(0, end)));
      this.#waiting = this.#waiting.slice(end);
      this.#lastTakenMs = this.#options.clock.elapsed();
      if (this.#waiting.length <= this.#options.maxWaitingChars) this.#releaseWriters();
    }
    // Checked after the bytes too, so that a short stream needs no second pull to end.
    if (this.#closed && this.#waiting === "") {
      controller.close();
      this.#finish("ended");
    }
  }

  #finish(outcome: StreamOutcome): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#waiting = "";
    this.#cancelTimer();
    this.#wakeReader();
    this.#releaseWriters();
    this.#options.onEnd(outcome);
  }

  /** Once for all that is written in this turn of the event loop: a commit brings many deltas. */
  #wakeReaderSoon(): void {
    if (this.#reader === undefined || this.#waking) return;
    this.#waking = true;
    setImmediate(() => {
      this.#waking = false;
      this.#wakeReader();
    });
  }

  #wakeReader(): void {
    const wake = this.#reader;
    this.#reader = undefined;
    wake?.();
  }

  #releaseWriters(): void {
    if (this.#writers.length === 0) return;
    const writers = this.#writers;
    this.#writers = [];
    for (const release of writers) release();
  }

  /** One timer for the whole stream; it only looks how long ago something was sent. */
  #armKeepAlive(afterMs: number): void {
    this.#cancelTimer = this.#options.clock.after(afterMs, () => {
      const { clock, keepAliveMs } = this.#options;
      const quietMs = clock.elapsed() - this.#lastTakenMs;
      if (quietMs < keepAliveMs) return this.#armKeepAlive(keepAliveMs - quietMs);
      // A reader that has something to take needs no comment.
      if (this.#waiting === "") this.write(COMMENT);
      this.#armKeepAlive(keepAliveMs);
    });
  }
}

/** Where to cut off at most `max` characters without cutting one in two. */
function sliceEnd(text: string, max: number): number {
  if (text.length <= max) return text.length;
  const last = text.charCodeAt(max - 1);
  return last >= 0xd800 && last <= 0xdbff ? max - 1 : max;
}
