/**
 * Reading the body of an answer.
 *
 * @module
 */

import { gathered } from "./gathered.ts";

type Chunk = Uint8Array<ArrayBuffer>;

/** A reader as far as it is used here. */
export type BodyReader = Pick<ReadableStreamDefaultReader<Chunk>, "read" | "cancel">;

/** Bytes of the buffer that is read into; a TLS record is at most as long. */
const BUFFER_BYTES = 16 * 1024;

/**
 * Reads a body, what comes at once in one ({@linkcode gathered}), and closes its connection when the signal
 * aborts: a read that waits then rejects with the signal's reason. In a Worker (Deno 2.9) the abort of a fetch does neither, and elsewhere it is
 * lost at times; a cancel of the reader does both.
 */
export function readBody(body: ReadableStream<Chunk>, signal?: AbortSignal): BodyReader {
  const reader = gathered(bufferedReader(body));
  if (signal === undefined) return reader;
  const close = () => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener("abort", close, { once: true });
  if (signal.aborted) close();
  return {
    async read() {
      const result = await reader.read();
      if (!result.done) return result;
      // A cancelled read looks like the body's proper end, and must not be taken for it.
      signal.throwIfAborted();
      signal.removeEventListener("abort", close);
      return result;
    },
    cancel(reason) {
      signal.removeEventListener("abort", close);
      return reader.cancel(reason);
    },
  };
}

/**
 * Reads into a buffer of ours where the body allows it, as that of a real fetch does; its bytes are good
 * until the next read. Without one, Deno makes 64 KiB anew for every read, which is most of what a read
 * costs when it brings a token.
 */
function bufferedReader(body: ReadableStream<Chunk>): BodyReader {
  let reader: ReadableStreamBYOBReader;
  try {
    reader = body.getReader({ mode: "byob" });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return body.getReader();
  }
  let buffer: Chunk = new Uint8Array(BUFFER_BYTES);
  return {
    async read() {
      const { done, value } = await reader.read(buffer);
      // The buffer goes into the read and comes back with it, but not from a cancelled one.
      buffer = value === undefined ? new Uint8Array(1) : new Uint8Array(value.buffer);
      return done ? { done, value: undefined } : { done, value };
    },
    cancel: (reason) => reader.cancel(reason),
  };
}
