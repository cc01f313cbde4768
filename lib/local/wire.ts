/**
 * JSON lines over a pair of byte streams, both ways, with bounds and back-pressure.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import { MAX_LINE_BYTES } from "./protocol.ts";

/** One end of a connection; a `Deno.Conn` is one. */
export interface Duplex {
  readable: ReadableStream<Uint8Array>;
  writable: WritableStream<Uint8Array>;
}

/**
 * Each line, parsed. Ends with the stream, also when the other side vanished. Throws
 * `invalid_request` for a line that is not JSON or longer than {@linkcode MAX_LINE_BYTES}.
 */
export async function* readLines(
  readable: ReadableStream<Uint8Array>,
  maxBytes = MAX_LINE_BYTES,
): AsyncGenerator<unknown> {
  const reader = readable.getReader();
  // The pieces of an unfinished line; joined once, so that a long line costs linear time.
  let pieces: Uint8Array[] = [];
  let size = 0;
  try {
    while (true) {
      const { value, done } = await reader.read().catch(() => ({ value: undefined, done: true }));
      if (done || value === undefined) return;
      let from = 0;
      for (let at = value.indexOf(10); at >= 0; at = value.indexOf(10, from)) {
        pieces.push(value.subarray(from, at));
        from = at + 1;
        const line = decode(pieces);
        pieces = [];
        size = 0;
        if (line !== "") yield parse(line);
      }
      if (from < value.length) {
        pieces.push(value.slice(from));
        size += value.length - from;
        if (size > maxBytes) {
          throw new ServiceError("too_large", `A line is over ${maxBytes} bytes`);
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function decode(pieces: Uint8Array[]): string {
  const decoder = new TextDecoder();
  return pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new ServiceError("invalid_request", "A line is not JSON", {}, { cause });
  }
}

/** Writes lines. `write` resolves when the other side has room; it rejects once that side is gone. */
export interface LineWriter {
  write(value: unknown): Promise<void>;
  close(): Promise<void>;
}

/** A {@linkcode LineWriter} over a byte stream. Lines of concurrent writers never mix. */
export function lineWriter(writable: WritableStream<Uint8Array>): LineWriter {
  const writer = writable.getWriter();
  const encoder = new TextEncoder();
  writer.closed.catch(() => {});
  return {
    write: (value) => writer.write(encoder.encode(JSON.stringify(value) + "\n")),
    close: () => writer.close().catch(() => {}),
  };
}
