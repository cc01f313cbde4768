/**
 * Frames on a byte stream: a 4-byte big-endian length and that many bytes of UTF-8 JSON. `bytes` of a
 * value follow it in a frame of their own, as they are. Children load this file, so it imports nothing.
 *
 * @module
 */

/** Largest frame where nothing else is said, bytes. */
export const MAX_FRAME_BYTES = 16 * 1024 * 1024;

const HEAD_BYTES = 4;

/** What is written for a value, in order; throws a RangeError when a part is larger than the bound. */
export function encodeFrame(
  value: object,
  maxBytes = MAX_FRAME_BYTES,
): Uint8Array<ArrayBuffer>[] {
  const { bytes } = value as { bytes?: Uint8Array<ArrayBuffer> };
  if (bytes === undefined) return [encodeJson(value, maxBytes)];
  const head = encodeHead(bytes.length, maxBytes);
  return [encodeJson({ ...value, bytes: undefined, hasBytes: true }, maxBytes), head, bytes];
}

function encodeJson(value: unknown, maxBytes: number): Uint8Array<ArrayBuffer> {
  const body = new TextEncoder().encode(JSON.stringify(value));
  const frame = new Uint8Array(HEAD_BYTES + body.length);
  frame.set(encodeHead(body.length, maxBytes));
  frame.set(body, HEAD_BYTES);
  return frame;
}

function encodeHead(length: number, maxBytes: number): Uint8Array<ArrayBuffer> {
  if (length > maxBytes) {
    throw new RangeError(`Cannot send a frame of ${length} bytes: the limit is ${maxBytes}`);
  }
  const head = new Uint8Array(HEAD_BYTES);
  new DataView(head.buffer).setUint32(0, length);
  return head;
}

/**
 * Takes bytes as they come and gives back the values of complete frames. Holds one frame at most, and
 * the value that waits for its bytes; throws on a length over the bound and on a body that is no JSON.
 */
export class FrameReader {
  readonly #maxBytes: number;
  #chunks: Uint8Array[] = [];
  #held = 0;
  #waiting: object | undefined;

  constructor(maxBytes = MAX_FRAME_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes of a frame that has begun and is not complete. */
  get pendingBytes(): number {
    return this.#held;
  }

  /** Frames are read when they are asked for. */
  *push(chunk: Uint8Array): Iterable<unknown> {
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    while (this.#held >= HEAD_BYTES) {
      const head = this.#peek(HEAD_BYTES);
      const length = new DataView(head.buffer, head.byteOffset).getUint32(0);
      if (length > this.#maxBytes) {
        throw new RangeError(
          `Cannot take a frame of ${length} bytes: the limit is ${this.#maxBytes}`,
        );
      }
      if (this.#held < HEAD_BYTES + length) return;
      const body = this.#peek(HEAD_BYTES + length).subarray(HEAD_BYTES);
      this.#drop(HEAD_BYTES + length);
      if (this.#waiting !== undefined) {
        const value = { ...this.#waiting, bytes: body };
        this.#waiting = undefined;
        yield value;
        continue;
      }
      const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
      const { hasBytes, ...rest } = (value ?? {}) as { hasBytes?: unknown };
      if (hasBytes === true) this.#waiting = rest;
      else yield value;
    }
  }

  /** The first bytes in one piece; joins chunks only when they are asked for. */
  #peek(bytes: number): Uint8Array {
    const first = this.#chunks[0]!;
    if (first.length >= bytes) return first.subarray(0, bytes);
    if (bytes === HEAD_BYTES) return this.#copy(bytes);
    const all = this.#copy(this.#held);
    this.#chunks = [all];
    return all.subarray(0, bytes);
  }

  #copy(bytes: number): Uint8Array {
    const out = new Uint8Array(bytes);
    let at = 0;
    for (const chunk of this.#chunks) {
      const part = chunk.subarray(0, bytes - at);
      out.set(part, at);
      at += part.length;
      if (at === bytes) break;
    }
    return out;
  }

  #drop(bytes: number): void {
    this.#held -= bytes;
    while (bytes > 0) {
      const first = this.#chunks[0]!;
      if (first.length > bytes) {
        this.#chunks[0] = first.subarray(bytes);
        return;
      }
      bytes -= first.length;
      this.#chunks.shift();
    }
  }
}
