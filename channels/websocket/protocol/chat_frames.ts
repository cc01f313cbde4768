/**
 * The frames of one chat for one reader: which numbers each covers, and what a stretch without streaming
 * said. Resumed behind any number, it gives what it would have given without a break.
 *
 * @module
 */

import type { StoredEvent } from "../../../lib/contract/events.ts";
import type { OutFile } from "../../../lib/contract/messages.ts";
import { OutFrame } from "../socket/out_frame.ts";
import { eventFrame, type FrameContext } from "./event_frame.ts";

/** What all readers of a channel share. */
export interface FrameSource extends Omit<FrameContext, "chatId" | "seqFrom" | "segment"> {
  /**
   * Frames that were made, by their events: readers that follow live are handed the same events, so 500 of
   * them encode once. An entry goes with its event.
   */
  made: WeakMap<StoredEvent, OutFrame>;
}

export class ChatFrames {
  readonly #source: FrameSource;
  readonly #chatId: string;
  /** Last number that a frame has covered, or that the client has. */
  #covered: number;
  /** What was said in stretches that are not over, by their streams; without streaming alone. */
  #open: Map<string, string[]> | undefined;
  /** What goes out with the answer of the turn that runs; likewise. */
  #files: OutFile[] = [];
  #replyTo: string | undefined;

  /** `afterSeq`: what the client has. */
  constructor(source: FrameSource, chatId: string, afterSeq: number) {
    this.#source = source;
    this.#chatId = chatId;
    this.#covered = afterSeq;
  }

  /** The next event, all in order; the frame of it if there is one to be sent. */
  push(stored: StoredEvent): OutFrame | undefined {
    const segment = this.#source.streaming ? undefined : this.#listen(stored);
    // Known by the client: told only for what was said in it.
    if (stored.seq <= this.#covered) return undefined;
    const frame = this.#frame(stored, segment);
    if (frame !== undefined) this.#covered = stored.seq;
    return frame;
  }

  #frame(stored: StoredEvent, segment: FrameContext["segment"]): OutFrame | undefined {
    const { made } = this.#source;
    const seqFrom = this.#covered + 1;
    const known = made.get(stored);
    // Whoever came in between covers fewer hidden numbers with it.
    if (known !== undefined && firstOf(known) === seqFrom) return known;
    const frame = eventFrame(stored, {
      ...this.#source,
      chatId: this.#chatId,
      seqFrom,
      segment,
    });
    if (frame === undefined) return undefined;
    const out = new OutFrame(frame);
    made.set(stored, out);
    return out;
  }

  #listen({ event }: StoredEvent): FrameContext["segment"] {
    if (event.type === "turn_start") {
      this.#files = [];
      this.#replyTo = event.replyTo;
    } else if (event.type === "files") {
      this.#files.push(...event.files);
    } else if (event.type === "text_delta") {
      const open = this.#open ??= new Map();
      const said = open.get(event.streamId);
      if (said === undefined) open.set(event.streamId, [event.text]);
      else said.push(event.text);
    } else if (event.type === "segment_end") {
      const said = this.#open?.get(event.streamId);
      this.#open?.delete(event.streamId);
      const replyTo = this.#replyTo;
      return {
        text: said?.join("") ?? "",
        files: [...this.#files],
        ...replyTo !== undefined && { replyTo },
      };
    } else if (event.type === "turn_end") {
      this.#open = undefined;
    }
    return undefined;
  }
}

function firstOf({ frame }: OutFrame): number | undefined {
  if (!("seq" in frame)) return undefined;
  return frame.seq_from ?? frame.seq;
}
