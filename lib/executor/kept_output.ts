/**
 * Output of unknown length in bounded memory: its head and its tail are kept, and the text says how
 * much is missing between them.
 *
 * @module
 */

import { createScrubber, type Scrubber } from "../secrets/scrubber.ts";
import { cutOutput } from "../rpc/cut_output.ts";

/** What takes secrets out of output. */
export type OutputScrubber = Pick<Scrubber, "text" | "pieces">;

/** Bytes that the sentence about a cut may take. */
const NOTE_BYTES = 80;

/** Bytes before the tail that are read only to see what begins in them and reaches into it. */
const BEFORE_TAIL_BYTES = 4_096;

/** Takes bytes as they come. */
export class KeptOutput {
  readonly #head: Uint8Array;
  /** A ring: what is written last overwrites what is oldest. */
  readonly #tail: Uint8Array;
  /** Bytes of it that are shown. */
  readonly #tailSize: number;
  #total = 0;

  /**
   * `maxBytes` of the text that comes of it, 200 at least; placeholders may make it longer. Secrets are
   * taken out before anything is cut, since half of one is known by nobody.
   */
  constructor(readonly maxBytes: number, readonly scrubber: OutputScrubber = createScrubber()) {
    this.#head = new Uint8Array(Math.floor(maxBytes * 2 / 3));
    this.#tailSize = maxBytes - this.#head.length;
    this.#tail = new Uint8Array(this.#tailSize + BEFORE_TAIL_BYTES);
  }

  get totalBytes(): number {
    return this.#total;
  }

  push(chunk: Uint8Array): void {
    const forHead = chunk.subarray(0, Math.max(0, this.#head.length - this.#total));
    this.#head.set(forHead, Math.min(this.#total, this.#head.length));
    const size = this.#tail.length;
    const rest = chunk.subarray(forHead.length);
    // Only its end can stay.
    const kept = rest.subarray(Math.max(0, rest.length - size));
    const end = this.#total + chunk.length - this.#head.length;
    const at = ((end - kept.length) % size + size) % size;
    const first = kept.subarray(0, size - at);
    if (kept.length > 0) {
      this.#tail.set(first, at);
      this.#tail.set(kept.subarray(first.length), 0);
    }
    this.#total += chunk.length;
  }

  /**
   * What is kept, as text; bytes that are no UTF-8 become U+FFFD. At most `maxBytes` of UTF-8, and what
   * placeholders take more than the secrets that they stand for.
   */
  text(): string {
    const { length: headSize } = this.#head;
    const { length: ringSize } = this.#tail;
    const tailSize = this.#tailSize;
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    if (this.#total <= headSize) {
      return this.#bounded(decoder.decode(this.#head.subarray(0, this.#total)));
    }
    const inTail = this.#total - headSize;
    const ring = this.#unrolled(Math.min(inTail, ringSize));
    if (inTail <= tailSize) {
      const whole = new Uint8Array(this.#total);
      whole.set(this.#head);
      whole.set(ring, headSize);
      return this.#bounded(decoder.decode(whole));
    }
    const half = NOTE_BYTES / 2;
    const head = wholeCharacters(fitting(this.#head, headSize - half, "head"));
    const fit = fitting(ring.subarray(ring.length - tailSize), tailSize - half, "tail");
    const tail = fit.subarray(firstCharacter(fit));
    const before = new Uint8Array(BEFORE_TAIL_BYTES + ring.length - tail.length);
    // Of a small gap there are fewer, and the head is right before them.
    if (inTail < ringSize) {
      const end = this.#head.subarray(-BEFORE_TAIL_BYTES);
      before.set(end, BEFORE_TAIL_BYTES - end.length);
    }
    before.set(ring.subarray(0, ring.length - tail.length), BEFORE_TAIL_BYTES);
    const missing = this.#total - head.length - tail.length;
    const note = `[… ${missing} of ${this.#total} bytes cut …]`;
    return `${this.#scrubbedHead(decoder.decode(head))}\n${note}\n${
      this.#scrubbedTail(decoder.decode(before), decoder.decode(tail))
    }`;
  }

  /** The last bytes in their order. */
  #unrolled(length: number): Uint8Array {
    const size = this.#tail.length;
    if (length < size) return this.#tail.subarray(0, length);
    const start = (this.#total - this.#head.length) % size;
    const ring = new Uint8Array(size);
    ring.set(this.#tail.subarray(start));
    ring.set(this.#tail.subarray(0, start), size - start);
    return ring;
  }

  /** Without what may begin a secret at its end: the rest of that is cut. */
  #scrubbedHead(text: string): string {
    let said = "";
    this.scrubber.pieces((piece) => said += piece).push(text);
    return said;
  }

  /** With what a secret that began before it has in it taken out. */
  #scrubbedTail(before: string, text: string): string {
    let said = "";
    const pieces = this.scrubber.pieces((piece) => said += piece);
    pieces.push(before);
    pieces.flush();
    said = "";
    pieces.push(text);
    pieces.end();
    return said;
  }

  /** U+FFFD takes more room than the byte that it stands for. */
  #bounded(text: string): string {
    return cutOutput(this.scrubber.text(text), this.maxBytes);
  }
}

/** So much of one end that its text takes at most `room` bytes: all, or a third where it is no text. */
function fitting(bytes: Uint8Array, room: number, end: "head" | "tail"): Uint8Array {
  const part = (size: number) =>
    end === "head" ? bytes.subarray(0, size) : bytes.subarray(bytes.length - size);
  const whole = part(room);
  const asText = new TextEncoder().encode(new TextDecoder().decode(whole));
  return asText.length <= room ? whole : part(Math.floor(room / 3));
}

/** The bytes without a character that is cut off at their end. */
function wholeCharacters(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

/** Where the first whole character begins. */
function firstCharacter(bytes: Uint8Array): number {
  let start = 0;
  while (start < Math.min(3, bytes.length) && (bytes[start]! & 0xc0) === 0x80) start++;
  return start;
}
