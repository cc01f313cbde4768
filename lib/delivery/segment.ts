/**
 * A stretch of an answer's text, which arrives as a stream or as one message.
 *
 * @module
 */

import type { Attachment } from "./attachment.ts";

/**
 * How a segment goes out. `whole`: as a message, once it has ended. `stream`: piece by piece. `cut`: it
 * was a stream whose link or process is gone; what is left becomes a message. `dead`: its pieces are
 * refused; what is left is put on record.
 */
export type SegmentMode = "whole" | "stream" | "cut" | "dead";

export class Segment {
  readonly streamId: string;
  /** Its first piece is the event after this one. */
  readonly fromSeq: number;
  mode: SegmentMode;
  /** Of a stream: the link that knows what came before. */
  attachment: Attachment | undefined;
  /** Characters that have arrived. */
  acked: number;
  /** Characters after those of which nobody knows whether they have; of a segment that a crash cut. */
  readonly uncertain: number;
  /** Whether anything was given to the link. */
  isBegun = false;
  /** Why it is dead. */
  error = "";
  /** Of the piece that is next. */
  failures = 0;
  /** Milliseconds that the platform has asked for, since something arrived. */
  waitedMs = 0;
  /** `isLive`: it has happened in this process. */
  ended: { seq: number; resuming: boolean; isLive: boolean } | undefined;
  #text = "";
  #skip: number;

  constructor(
    { streamId, fromSeq, mode, attachment, acked = 0, sending = acked }: {
      streamId: string;
      fromSeq: number;
      mode: SegmentMode;
      attachment?: Attachment;
      /** What an earlier process has noted. */
      acked?: number;
      sending?: number;
    },
  ) {
    this.streamId = streamId;
    this.fromSeq = fromSeq;
    this.mode = mode;
    this.attachment = attachment;
    this.acked = acked;
    this.uncertain = sending - acked;
    this.#skip = acked;
  }

  /** The text that has not arrived. */
  get rest(): string {
    return this.#text;
  }

  /** Adds the text of an event. */
  add(text: string): void {
    const skipped = Math.min(this.#skip, text.length);
    this.#skip -= skipped;
    this.#text += skipped === 0 ? text : text.slice(skipped);
  }

  /**
   * What can be sent now, and whether the stream ends with it. Half a character waits for its other
   * half, which comes with the next event.
   */
  get piece(): { text: string; isLast: boolean } | undefined {
    if (this.ended !== undefined) return { text: this.#text, isLast: true };
    const last = this.#text.charCodeAt(this.#text.length - 1);
    const text = last >= 0xd800 && last <= 0xdbff ? this.#text.slice(0, -1) : this.#text;
    return text === "" ? undefined : { text, isLast: false };
  }

  /** So many more characters are off our hands. */
  advance(chars: number): void {
    this.acked += chars;
    this.#text = this.#text.slice(chars);
  }
}
