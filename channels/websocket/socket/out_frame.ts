/**
 * A server frame on its way out: encoded once, however many connections it goes to.
 *
 * @module
 */

import type { Frame, ServerFrame } from "../../../lib/contract/wire/frames.ts";

/** A frame that carries a piece of a stream, and may be merged with the next piece of it. */
export type PieceFrame = Frame<"delta"> | Frame<"reasoning_delta">;

const encoder = new TextEncoder();

/** Bytes before the text at most: of the WebSocket frame that holds it. */
const MAX_HEAD_BYTES = 10;

/**
 * A frame and its encoding, made when it is first needed. Hand the same object to every connection
 * that shows the frame. The frame must not change any more.
 */
export class OutFrame {
  readonly frame: ServerFrame;
  #wire: Uint8Array<ArrayBuffer> | undefined;
  #bytes: Uint8Array<ArrayBuffer> | undefined;

  constructor(frame: ServerFrame) {
    this.frame = frame;
  }

  /**
   * The frame as it stands on the wire: one whole text message, as a server sends it, unmasked (RFC 6455,
   * 5.2). Not to be written to.
   */
  get wire(): Uint8Array<ArrayBuffer> {
    return this.#wire ??= encodeText(JSON.stringify(this.frame));
  }

  /** Its text alone, in UTF-8: the same bytes each time. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes ??= this.wire.subarray(headBytes(this.wire));
  }
}

function headBytes(wire: Uint8Array): number {
  const short = wire[1]!;
  return short < 126 ? 2 : short === 126 ? 4 : 10;
}

function encodeText(text: string): Uint8Array<ArrayBuffer> {
  const room = new Uint8Array(MAX_HEAD_BYTES + text.length * 3);
  const { written } = encoder.encodeInto(text, room.subarray(MAX_HEAD_BYTES));
  const head = written < 126 ? 2 : written < 65_536 ? 4 : 10;
  const wire = room.slice(MAX_HEAD_BYTES - head, MAX_HEAD_BYTES + written);
  const view = new DataView(wire.buffer);
  view.setUint8(0, 0x81);
  if (head === 2) view.setUint8(1, written);
  else if (head === 4) {
    view.setUint8(1, 126);
    view.setUint16(2, written);
  } else {
    view.setUint8(1, 127);
    view.setBigUint64(2, BigInt(written));
  }
  return wire;
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

/** Both pieces as one: it covers the numbers of both. */
export function mergePieces(piece: PieceFrame, next: PieceFrame): PieceFrame {
  return {
    ...piece,
    text: piece.text + next.text,
    seq: next.seq,
    seq_from: piece.seq_from ?? piece.seq,
  };
}
