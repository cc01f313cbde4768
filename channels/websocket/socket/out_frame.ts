/**
 * A server frame on its way out: encoded once, however many connections it goes to.
 *
 * @module
 */

import type { Frame, ServerFrame } from "../../../lib/wire/frames.ts";

/** A frame that carries a piece of a stream, and may be merged with the next piece of it. */
export type PieceFrame = Frame<"delta"> | Frame<"reasoning_delta">;

const encoder = new TextEncoder();

/**
 * A frame and its encoding, made when it is first needed. Hand the same object to every connection
 * that shows the frame. The frame must not change any more.
 */
export class OutFrame {
  readonly frame: ServerFrame;
  #bytes: Uint8Array<ArrayBuffer> | undefined;

  constructor(frame: ServerFrame) {
    this.frame = frame;
  }

  /** The frame as JSON in UTF-8. Not to be written to. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes ??= encoder.encode(JSON.stringify(this.frame));
  }
}

/** Whether a frame is a piece of a stream. */
export function isPiece(frame: ServerFrame): frame is PieceFrame {
  return frame.event === "delta" || frame.event === "reasoning_delta";
}

/** Whether `next` goes on with the stream of `piece`, at the very next number. */
export function continues(piece: PieceFrame, next: ServerFrame): next is PieceFrame {
  return next.event === piece.event && next.stream_id === piece.stream_id &&
    next.turn_id === piece.turn_id && next.chat_id === piece.chat_id &&
    (next.seq_from ?? next.seq) === piece.seq + 1;
}

/** Both pieces as one: it covers the numbers of both (decisions C "Resume"). */
export function mergePieces(piece: PieceFrame, next: PieceFrame): PieceFrame {
  return {
    ...piece,
    text: piece.text + next.text,
    seq: next.seq,
    seq_from: piece.seq_from ?? piece.seq,
  };
}
