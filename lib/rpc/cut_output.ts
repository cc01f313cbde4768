/**
 * Output within its bound: head and tail are kept, and the cut says how much is missing.
 *
 * @module
 */

const encoder = new TextEncoder();

/** Bytes that the sentence about a cut may take. */
const NOTE_BYTES = 80;

/**
 * The text if it has at most `maxBytes` bytes of UTF-8, else its first two thirds and its last third
 * of what the bound leaves, with a line between them that states the cut. Cuts at line ends where one
 * is near, and never inside a character. `maxBytes` is 200 at least.
 */
export function cutOutput(text: string, maxBytes: number): string {
  // No character takes more than three bytes a UTF-16 unit, so most texts need no count.
  if (text.length * 3 <= maxBytes) return text;
  const bytes = encoder.encode(text);
  if (bytes.length <= maxBytes) return text;
  const room = maxBytes - NOTE_BYTES;
  const head = headOf(bytes, Math.floor(room * 2 / 3));
  const tail = tailOf(bytes, room - Math.floor(room * 2 / 3));
  const missing = bytes.length - head.length - tail.length;
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return `${decoder.decode(head)}\n[… ${missing} of ${bytes.length} bytes cut …]\n${
    decoder.decode(tail)
  }`;
}

function headOf(bytes: Uint8Array, room: number): Uint8Array {
  let end = room;
  while (end > 0 && isContinuation(bytes[end]!)) end--;
  const line = bytes.lastIndexOf(0x0a, end - 1);
  return bytes.subarray(0, line > end - end / 8 ? line : end);
}

function tailOf(bytes: Uint8Array, room: number): Uint8Array {
  let start = bytes.length - room;
  while (start < bytes.length && isContinuation(bytes[start]!)) start++;
  const line = bytes.indexOf(0x0a, start);
  return bytes.subarray(line !== -1 && line < start + room / 8 ? line + 1 : start);
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
