/**
 * What is to be sent to one client, in order and bounded.
 *
 * What must stay true: frames of one chat keep their order, and a merged piece covers the numbers of its
 * parts, so that what the client reads has neither a gap nor a repeat.
 *
 * @module
 */

import { continues, isPiece, mergePieces, OutFrame, type PieceFrame } from "./out_frame.ts";

/** Where frames go. */
export interface Sink {
  /** Takes an encoded frame; calls `done` later, when the system has it and all before it. */
  write(wire: Uint8Array, done?: () => void): void;
  /** Bytes that were written and that the system does not have yet. */
  bufferedBytes(): number;
}

/** What a slow reader may be behind; then it is cut off (docs/websocket.md). */
const QUEUE_BOUNDS = { maxFrames: 256, maxBytes: 8 * 1024 * 1024 };

/** Frames and bytes beyond which nothing is written: what is still here can merge. */
const MAX_FLYING_FRAMES = 32;
const MAX_FLYING_BYTES = 64 * 1024;

/** Bytes of text in a merged piece, about. */
const MAX_PIECE_BYTES = 64 * 1024;

/** Control characters that JSON writes as two: \b \t \n \f \r. */
const SHORT_ESCAPES = new Set([8, 9, 10, 12, 13]);

interface Entry {
  frame: OutFrame;
  /** What it counts for. A merged piece is encoded when it leaves, and counted as its parts' texts. */
  bytes: number;
}

export class OutQueue {
  readonly #sink: Sink;
  readonly #entries: Entry[] = [];
  /** The entry that was queued last, of each chat that has one; absent until one is. */
  #lastOfChat: Map<string, Entry> | undefined;
  #drained: (() => void)[] | undefined;
  #queuedBytes = 0;
  /** Frames that were written since nothing was buffered. */
  #flying = 0;
  /** Whether a write tells when it is done: the one that left no room. The others cost no call. */
  #isAwaited = false;
  /** Bytes of a written frame that is larger than the bound: it counts for nothing while it goes. */
  #oversizeBytes = 0;
  #ended = false;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  /** Frames that wait, written ones included. */
  get frames(): number {
    this.#land();
    return this.#entries.length + this.#flying;
  }

  /** Bytes that wait, written ones included. */
  get bytes(): number {
    return this.#queuedBytes + this.#sink.bufferedBytes();
  }

  /** Whether everything was written. */
  get isDrained(): boolean {
    return this.#entries.length === 0;
  }

  /**
   * Sends a frame, now or later. False when it finds the queue over its bounds, and then it is not queued.
   * A frame that is larger than the bound goes through when nothing is before it: whoever
   * resumes would meet it again.
   */
  push(frame: OutFrame): boolean {
    if (this.#ended) return true;
    if (this.#entries.length === 0 && (!this.#isAwaited || this.#hasRoom())) {
      if (frame.wire.length > QUEUE_BOUNDS.maxBytes) this.#oversizeBytes = frame.wire.length;
      this.#write(frame.wire);
      return true;
    }
    const chat = "chat_id" in frame.frame ? frame.frame.chat_id : undefined;
    const last = chat === undefined ? undefined : this.#lastOfChat?.get(chat);
    if (last !== undefined && this.#merge(last, frame)) return this.#isWithinBounds(0, 0);
    const { length } = frame.wire;
    if (!this.#isWithinBounds(1, length)) return false;
    const entry = { frame, bytes: length };
    this.#entries.push(entry);
    if (chat !== undefined) (this.#lastOfChat ??= new Map()).set(chat, entry);
    this.#queuedBytes += length;
    return true;
  }

  /** Resolves once everything is written, or nothing will be any more. */
  whenDrained(): Promise<void> {
    if (this.isDrained || this.#ended) return Promise.resolve();
    return new Promise((resolve) => (this.#drained ??= []).push(resolve));
  }

  /** Forgets what waits; nothing is written any more. */
  end(): void {
    this.#ended = true;
    this.#entries.length = 0;
    this.#lastOfChat = undefined;
    this.#queuedBytes = 0;
    this.#tellDrained();
  }

  #isWithinBounds(moreFrames: number, moreBytes: number): boolean {
    return this.frames + moreFrames <= QUEUE_BOUNDS.maxFrames &&
      this.bytes + moreBytes <= QUEUE_BOUNDS.maxBytes + this.#oversizeBytes;
  }

  #hasRoom(): boolean {
    this.#land();
    return this.#flying < MAX_FLYING_FRAMES && this.#sink.bufferedBytes() < MAX_FLYING_BYTES;
  }

  #land(): void {
    if (this.#flying === 0 || this.#sink.bufferedBytes() > 0) return;
    this.#flying = 0;
    this.#oversizeBytes = 0;
  }

  #merge(last: Entry, { frame: next }: OutFrame): boolean {
    const { frame } = last.frame;
    if (!isPiece(frame) || !continues(frame, next)) return false;
    const bytes = encodedBytes(next);
    if (last.bytes + bytes > MAX_PIECE_BYTES) return false;
    last.frame = new OutFrame(mergePieces(frame, next));
    last.bytes += bytes;
    this.#queuedBytes += bytes;
    return true;
  }

  #write(wire: Uint8Array): void {
    this.#flying++;
    // What this write adds is not buffered yet when the question is asked.
    const isFull = this.#flying >= MAX_FLYING_FRAMES ||
      this.#sink.bufferedBytes() + wire.length >= MAX_FLYING_BYTES;
    if (!isFull || this.#isAwaited) return this.#sink.write(wire);
    this.#isAwaited = true;
    this.#sink.write(wire, () => this.#onWritten());
  }

  #onWritten(): void {
    this.#isAwaited = false;
    this.#flying = 0;
    this.#oversizeBytes = 0;
    while (this.#entries.length > 0 && !this.#isAwaited) {
      const entry = this.#entries.shift()!;
      this.#queuedBytes -= entry.bytes;
      const { frame } = entry.frame;
      const chat = "chat_id" in frame ? frame.chat_id : undefined;
      if (chat !== undefined && this.#lastOfChat?.get(chat) === entry) {
        this.#lastOfChat.delete(chat);
      }
      this.#write(entry.frame.wire);
    }
    if (this.isDrained) this.#tellDrained();
  }

  #tellDrained(): void {
    const waiting = this.#drained;
    this.#drained = undefined;
    waiting?.forEach((resolve) => resolve());
  }
}

/** Bytes that a piece adds to the one that it is merged with; a lone half of a character counts less. */
function encodedBytes({ text }: PieceFrame): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20) bytes += SHORT_ESCAPES.has(unit) ? 2 : 6;
    else if (unit === 0x22 || unit === 0x5c) bytes += 2;
    else if (unit < 0x80) bytes += 1;
    else bytes += unit < 0x800 ? 2 : 3;
  }
  return bytes;
}
