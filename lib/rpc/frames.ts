/**
 * Frames of the executor's protocol: a 4-byte big-endian length and that many bytes, UTF-8 JSON but
 * for a payload. Both sides use this file, so it imports nothing that a child would have to load.
 *
 * @module
 */

import { type ChildTask, MAX_FRAME_BYTES, type TaskFrame } from "./protocol.ts";

const HEAD_BYTES = 4;

/** A frame that holds the value; throws a RangeError when it would be larger than the bound. */
export function encodeFrame(value: unknown): Uint8Array<ArrayBuffer> {
  const body = new TextEncoder().encode(JSON.stringify(value));
  const frame = new Uint8Array(HEAD_BYTES + body.length);
  frame.set(encodeHead(body.length));
  frame.set(body, HEAD_BYTES);
  return frame;
}

/** What is written for a task, in order; throws a RangeError when a frame would be larger than the bound. */
export function encodeTask({ payload, ...task }: ChildTask): Uint8Array<ArrayBuffer>[] {
  if (payload === undefined) return [encodeFrame(task)];
  const frame: TaskFrame = { ...task, hasPayload: true };
  return [encodeFrame(frame), encodeHead(payload.length), payload];
}

function encodeHead(length: number): Uint8Array<ArrayBuffer> {
  if (length > MAX_FRAME_BYTES) {
    throw new RangeError(`Cannot send a frame of ${length} bytes: the limit is ${MAX_FRAME_BYTES}`);
  }
  const head = new Uint8Array(HEAD_BYTES);
  new DataView(head.buffer).setUint32(0, length);
  return head;
}

/**
 * Takes bytes as they come and gives back the values of complete frames. Holds one frame at most;
 * throws on a length over the bound and on a body that is no JSON. After `expectBytes()` the next
 * frame's value is its body, a Uint8Array.
 */
export class FrameReader {
  #chunks: Uint8Array[] = [];
  #held = 0;
  #bytesNext = false;

  /** Bytes of a frame that has begun and is not complete. */
  get pendingBytes(): number {
    return this.#held;
  }

  /** May be called between two values of one `push()`: frames are read when they are asked for. */
  expectBytes(): void {
    this.#bytesNext = true;
  }

  *push(chunk: Uint8Array): Iterable<unknown> {
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    while (this.#held >= HEAD_BYTES) {
      const head = this.#peek(HEAD_BYTES);
      const length = new DataView(head.buffer, head.byteOffset).getUint32(0);
      if (length > MAX_FRAME_BYTES) {
        throw new RangeError(
          `Cannot take a frame of ${length} bytes: the limit is ${MAX_FRAME_BYTES}`,
        );
      }
      if (this.#held < HEAD_BYTES + length) return;
      const body = this.#peek(HEAD_BYTES + length).subarray(HEAD_BYTES);
      this.#drop(HEAD_BYTES + length);
      if (this.#bytesNext) {
        this.#bytesNext = false;
        yield body;
      } else {
        yield JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
      }
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
