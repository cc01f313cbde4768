/**
 * Reads a connection up to the empty line that ends a head, and no further than a bound.
 *
 * @module
 */

/** A head with its empty line, and what came with it; or why there is none. */
export type HeadRead =
  | { head: string; rest: Uint8Array<ArrayBuffer> }
  | { problem: "too large" | "ended" };

const READ_BYTES = 4_096;

/**
 * Reads a head of at most `maxBytes`. Bytes are taken as Latin-1, as headers are. Rejects when the
 * connection breaks.
 */
export async function readHead(
  conn: Pick<Deno.Conn, "read">,
  maxBytes: number,
): Promise<HeadRead> {
  const held = new Uint8Array(maxBytes + READ_BYTES);
  let length = 0;
  for (;;) {
    const count = await conn.read(held.subarray(length, length + READ_BYTES));
    if (count === null) return { problem: "ended" };
    const from = Math.max(0, length - 3);
    length += count;
    const end = findEnd(held, from, length);
    if (end === -1 ? length > maxBytes : end > maxBytes) return { problem: "too large" };
    if (end === -1) continue;
    return { head: latin1(held.subarray(0, end)), rest: held.slice(end, length) };
  }
}

/** Text of bytes, one character each. */
function latin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

/** Bytes of such a text. */
export function latin1Bytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (char) => char.charCodeAt(0) & 0xff);
}

function findEnd(bytes: Uint8Array, from: number, length: number): number {
  for (let at = from; at + 3 < length; at++) {
    if (
      bytes[at] === 13 && bytes[at + 1] === 10 && bytes[at + 2] === 13 && bytes[at + 3] === 10
    ) return at + 4;
  }
  return -1;
}
