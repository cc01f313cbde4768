/**
 * What a turn shows beside its answer: what it does, what it thinks, that it has ended. Of each there is
 * the newest alone; what could not be shown at once is not kept, and nothing is tried twice.
 *
 * @module
 */

import type { ChannelLink } from "../channel/channel_link.ts";
import type { OutboundEvent, OutboundMessage } from "../contract/outbound_message.ts";

/** Characters of thinking that wait; of more, the newest. */
const MAX_REASONING_CHARS = 16 * 1024;

/** Streams of thinking that are to be closed. */
const MAX_ENDS = 8;

/** What every call about the turn has. */
export interface NoteTarget {
  runtimeName: string;
  turnId: string;
  chatId: string;
  metadata: Readonly<Record<string, unknown>>;
}

/** Something to show. */
export interface SideNote {
  /** The event that it comes from. */
  seq: number;
  show(link: ChannelLink): Promise<void>;
}

interface Thought {
  seq: number;
  streamId: string;
  text: string;
  isBegun: boolean;
  isEnded: boolean;
}

export class SideNotes {
  readonly #target: NoteTarget;
  readonly #isWhole: () => boolean;
  #progress: { seq: number; message: OutboundMessage } | undefined;
  #thought: Thought | undefined;
  /** Streams of thinking that another one came after. */
  #ends: { seq: number; streamId: string }[] = [];
  #turnEnd: { seq: number; message: OutboundMessage } | undefined;

  /** `isWhole`: thoughts are shown when they have ended, and not piece by piece. */
  constructor(target: NoteTarget, isWhole: () => boolean = () => false) {
    this.#target = target;
    this.#isWhole = isWhole;
  }

  get isEmpty(): boolean {
    return this.#progress === undefined && this.#turnEnd === undefined && this.#ends.length === 0 &&
      !this.#hasThought;
  }

  get #hasThought(): boolean {
    if (this.#thought === undefined) return false;
    const { text, isEnded, isBegun } = this.#thought;
    return isEnded || (text !== "" && (isBegun || !this.#isWhole()));
  }

  progress(seq: number, content: string, toolHint: boolean): void {
    if (content.trim() === "" || seq < (this.#progress?.seq ?? 0)) return;
    const event: OutboundEvent = { type: "progress", toolHint };
    this.#progress = { seq, message: this.#message(seq, content, event) };
  }

  reasoning(seq: number, streamId: string, text: string): void {
    if (this.#thought?.streamId !== streamId) this.#closeThought();
    const thought = this.#thought ?? { seq, streamId, text: "", isBegun: false, isEnded: false };
    if (thought.text === "") thought.seq = seq;
    thought.text = (thought.text + text).slice(-MAX_REASONING_CHARS);
    this.#thought = thought;
  }

  reasoningEnd(seq: number, streamId: string): void {
    const thought = this.#thought;
    if (thought?.streamId !== streamId) return;
    if (thought.text === "") thought.seq = seq;
    thought.isEnded = true;
  }

  turnEnd(seq: number, status: Extract<OutboundEvent, { type: "turn_end" }>["status"]): void {
    this.#turnEnd = { seq, message: this.#message(seq, "", { type: "turn_end", status }) };
  }

  /** The turn has come further: only what was begun is still to be closed. */
  pass(): void {
    this.#progress = undefined;
    this.#closeThought();
  }

  /** Nothing is to be shown. */
  drop(): void {
    this.#progress = this.#thought = this.#turnEnd = undefined;
    this.#ends = [];
  }

  #closeThought(): void {
    const thought = this.#thought;
    this.#thought = undefined;
    if (thought?.isBegun !== true || this.#ends.length >= MAX_ENDS) return;
    this.#ends.push({ seq: thought.seq, streamId: thought.streamId });
  }

  /** The seq of what is to be shown next. */
  get nextSeq(): number | undefined {
    const seqs = [
      this.#ends[0]?.seq,
      this.#hasThought ? this.#thought!.seq : undefined,
      this.#progress?.seq,
      this.#turnEnd?.seq,
    ].filter((seq) => seq !== undefined);
    return seqs.length === 0 ? undefined : Math.min(...seqs);
  }

  /** Takes what is to be shown next: it is gone from here whatever becomes of it. */
  take(): SideNote | undefined {
    const seq = this.nextSeq;
    if (seq === undefined) return undefined;
    const { chatId, metadata } = this.#target;
    const end = this.#ends[0];
    if (end?.seq === seq) {
      this.#ends.shift();
      const { streamId } = end;
      return { seq, show: (link) => link.sendReasoningEnd({ chatId, metadata, streamId }) };
    }
    const thought = this.#thought;
    if (thought !== undefined && this.#hasThought && thought.seq === seq) {
      const { streamId, text, isEnded, isBegun } = thought;
      if (!isBegun && isEnded && this.#isWhole()) {
        this.#thought = undefined;
        const { runtimeName: channel, turnId } = this.#target;
        const id = `thought:${turnId}:${streamId}`;
        const message = { id, channel, chatId, content: text, media: [], metadata };
        return { seq, show: (link) => link.sendReasoning(message) };
      }
      thought.text = "";
      thought.isBegun = true;
      if (isEnded) this.#thought = undefined;
      return {
        seq,
        async show(link) {
          const place = { chatId, metadata, streamId };
          if (text !== "") await link.sendReasoningDelta({ ...place, delta: text });
          if (isEnded) await link.sendReasoningEnd(place);
        },
      };
    }
    const note = this.#progress?.seq === seq ? this.#progress : this.#turnEnd!;
    if (note === this.#progress) this.#progress = undefined;
    else this.#turnEnd = undefined;
    return { seq, show: (link) => link.send(note.message) };
  }

  #message(seq: number, content: string, event: OutboundEvent): OutboundMessage {
    const { runtimeName, turnId, chatId, metadata } = this.#target;
    const id = `note:${turnId}:${seq}`;
    return { id, channel: runtimeName, chatId, content, media: [], metadata, event };
  }
}
