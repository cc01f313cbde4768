/**
 * Sends a turn's streams piece by piece, and keeps on record how far they have come: before each call up
 * to where it goes, and afterwards what has arrived.
 *
 * @module
 */

import type { Log } from "../base/log.ts";
import { pieceOf } from "./answer_steps.ts";
import { MAX_RETRY_MS, type Outcome, retryWaitMs } from "./attempt.ts";
import type { Attachment } from "./attachment.ts";
import type { ChannelTurn, DeliveryStore, Move } from "../contract/delivery_store.ts";
import type { Pause } from "./lane.ts";
import type { Persister } from "./persist.ts";
import type { Segment } from "./segment.ts";

/** Milliseconds after a call under which the runtime has ended. */
const AGAIN_MS = 1_000;

/** What came of a piece. */
export type PieceResult =
  /** `isLast`: the stream is over. */
  | { kind: "sent"; isLast: boolean }
  /** The stream is one no more: its mode says what becomes of the rest. */
  | { kind: "given up" }
  | { kind: "again"; pause: Pause }
  /** The turn's session was deleted. */
  | { kind: "gone" }
  /** The process is about to stop. */
  | { kind: "stopped" };

/** What a sender works with. */
export interface StreamSenderDeps {
  turn: ChannelTurn;
  store: Pick<DeliveryStore, "move">;
  persister: Persister;
  log: Pick<Log, "warning">;
}

export class StreamSender {
  readonly #deps: StreamSenderDeps;

  constructor(deps: StreamSenderDeps) {
    this.#deps = deps;
  }

  /** Sends what there is of the segment. Never rejects. */
  async send(
    segment: Segment,
    { text, isLast }: NonNullable<Segment["piece"]>,
    attachment: Attachment,
  ): Promise<PieceResult> {
    if (text !== "") {
      const moved = await this.#move(placeOf(segment, segment.acked + text.length), "full");
      if (moved === undefined) return { kind: "stopped" };
      if (!moved) return { kind: "gone" };
    }
    segment.isBegun ||= attachment.isLive;
    const outcome = await this.#call(segment, text, isLast, attachment);
    if (outcome.kind === "done") {
      segment.failures = segment.waitedMs = 0;
      segment.advance(text.length);
      if (isLast) void this.#move({ seq: segment.ended!.seq, stream: null });
      // With more to say, the next call notes it.
      else if (segment.piece === undefined) void this.#move(placeOf(segment));
      return { kind: "sent", isLast };
    }
    if (outcome.kind === "uncertain") {
      segment.mode = "cut";
      const add = text.trim() === ""
        ? []
        : [pieceOf(this.#deps.turn, segment, text, outcome.error)];
      segment.advance(text.length);
      await this.#move({ ...placeOf(segment), add }, "full");
      return { kind: "given up" };
    }
    // It did not arrive, also as far as the next process is concerned.
    if (text !== "") void this.#move(placeOf(segment));
    return this.#judge(segment, outcome, attachment);
  }

  async #call(
    { streamId, ended }: Segment,
    delta: string,
    streamEnd: boolean,
    attachment: Attachment,
  ): Promise<Outcome> {
    if (!attachment.isLive) return { kind: "failed", error: "The channel has ended" };
    const { turnId, chatId, metadata } = this.#deps.turn;
    const resuming = streamEnd && ended!.resuming;
    return await attachment.call(
      (link) => link.sendDelta({ chatId, delta, metadata, streamId, streamEnd, resuming }),
      turnId,
    );
  }

  #judge(
    segment: Segment,
    outcome: Exclude<Outcome, { kind: "done" | "uncertain" }>,
    attachment: Attachment,
  ): PieceResult {
    const again = (ms: number): PieceResult => ({ kind: "again", pause: { ms, isRetry: true } });
    if (outcome.kind === "later") {
      segment.waitedMs += outcome.retryAfterMs;
      if (segment.waitedMs <= MAX_RETRY_MS) return again(outcome.retryAfterMs);
      return this.#giveUp(segment, outcome.error);
    }
    // It is the runtime that is gone, not the piece that is refused.
    if (outcome.kind === "failed" && !attachment.isLive) return again(AGAIN_MS);
    segment.failures++;
    if (outcome.kind === "failed" && segment.failures < attachment.maxAttempts) {
      return again(retryWaitMs(segment.failures));
    }
    return this.#giveUp(segment, outcome.error);
  }

  #giveUp(segment: Segment, error: string): PieceResult {
    const { turn, log } = this.#deps;
    log.warning("A stream cannot be delivered: service outbox", {
      channel: turn.runtimeName,
      turn: turn.turnId,
      reason: error,
    });
    segment.mode = "dead";
    segment.error = error;
    return { kind: "given up" };
  }

  #move(move: Move, durability: "full" | "normal" = "normal"): Promise<boolean | undefined> {
    const { store, persister, turn } = this.#deps;
    return persister.write(() => store.move(turn.rowid, move, durability));
  }
}

function placeOf({ fromSeq, streamId, acked }: Segment, sending = acked): Move {
  return { seq: fromSeq, stream: { streamId, acked, sending } };
}
