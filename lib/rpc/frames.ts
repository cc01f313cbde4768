/**
 * Frames on a byte stream: a 4-byte big-endian length and that many bytes of UTF-8 JSON. `bytes` of a
 * value follow it in a frame of their own, as they are. Children load this file, so it imports nothing.
 *
 * @module
 */

/** Largest frame where nothing else is said, bytes. */
export const MAX_FRAME_BYTES = 16 * 1024 * 1024;

const HEAD_BYTES = 4;
/** Room for the head before a body, so that both are one piece from the start. */
const NO_HEAD = "\0".repeat(HEAD_BYTES);

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** What is written for a value, in order; throws a RangeError when a part is larger than the bound. */
export function encodeFrame(
  value: object,
  maxBytes = MAX_FRAME_BYTES,
): Uint8Array<ArrayBuffer>[] {
  const { bytes } = value as { bytes?: Uint8Array<ArrayBuffer> };
  if (bytes === undefined) return [encodeJson(value, maxBytes)];
  const head = writeHead(new Uint8Array(HEAD_BYTES), bytes.length, maxBytes);
  return [encodeJson({ ...value, bytes: undefined, hasBytes: true }, maxBytes), head, bytes];
}

function encodeJson(value: unknown, maxBytes: number): Uint8Array<ArrayBuffer> {
  const frame = encoder.encode(NO_HEAD + JSON.stringify(value));
  return writeHead(frame, frame.length - HEAD_BYTES, maxBytes);
}

function writeHead(
  frame: Uint8Array<ArrayBuffer>,
  length: number,
  maxBytes: number,
): Uint8Array<ArrayBuffer> {
  if (length > maxBytes) {
    throw new RangeError(`Cannot send a frame of ${length} bytes: the limit is ${maxBytes}`);
  }
  for (let at = 0; at < HEAD_BYTES; at++) frame[at] = length >>> 8 * (HEAD_BYTES - 1 - at);
  return frame;
}

/**
 * Takes bytes as they come and gives back the values of complete frames. Holds one frame at most, and
 * the value that waits for its bytes; throws on a length over the bound and on a body that is no JSON.
 */
export class FrameReader {
  readonly #maxBytes: number;
  #chunks: Uint8Array[] = [];
  /** Where the next frame begins in the first chunk. */
  #at = 0;
  #held = 0;
  #waiting: object | undefined;

  constructor(maxBytes = MAX_FRAME_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Frames are read when they are asked for. */
  *push(chunk: Uint8Array): Iterable<unknown> {
    if (this.#held === 0) [this.#chunks, this.#at] = [[], 0];
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    while (this.#held >= HEAD_BYTES) {
      const head = this.#gather(HEAD_BYTES);
      let length = 0;
      for (let at = 0; at < HEAD_BYTES; at++) length = length * 256 + head[this.#at + at]!;
      if (length > this.#maxBytes) {
        throw new RangeError(
          `Cannot take a frame of ${length} bytes: the limit is ${this.#maxBytes}`,
        );
      }
      if (this.#held < HEAD_BYTES + length) return;
      const from = this.#gather(HEAD_BYTES + length);
      const body = from.subarray(this.#at + HEAD_BYTES, this.#at + HEAD_BYTES + length);
      this.#at += HEAD_BYTES + length;
      this.#held -= HEAD_BYTES + length;
      if (this.#waiting !== undefined) {
        const value = { ...this.#waiting, bytes: body };
        this.#waiting = undefined;
        yield value;
        continue;
      }
      const value: { hasBytes?: unknown } | null = JSON.parse(decoder.decode(body));
      if (value?.hasBytes === true) {
        delete value.hasBytes;
        this.#waiting = value;
      } else yield value;
    }
  }

  /** The chunk that holds so many bytes from the next frame's first; joins chunks only if it must. */
  #gather(bytes: number): Uint8Array {
    const first = this.#chunks[0]!;
    if (first.length - this.#at >= bytes) return first;
    const rest = [first.subarray(this.#at), ...this.#chunks.slice(1)];
    this.#chunks = [joinBytes(rest, this.#held)];
    this.#at = 0;
    return this.#chunks[0]!;
  }
}

/** Chunks in one piece of so many bytes. */
export function joinBytes(chunks: readonly Uint8Array[], bytes: number): Uint8Array {
  const joined = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    joined.set(chunk, at);
    at += chunk.length;
  }
  return joined;
}
