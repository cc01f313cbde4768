/**
 * Whether bytes are text, and which.
 *
 * @module
 */

/** Bytes at a file's beginning that are looked at. */
export const SNIFF_BYTES = 8 * 1024;

/** Encodings that are recognized: by a byte order mark, else UTF-8. */
export type TextEncoding = "utf-8" | "utf-16le" | "utf-16be";

/** The encoding of text by its first bytes, or undefined when they are no text. */
export function sniffText(head: Uint8Array): TextEncoding | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
  if (head.includes(0)) return undefined;
  let control = 0;
  for (const byte of head) {
    if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d && byte !== 0x0c) control++;
  }
  // Escape sequences of a terminal log are text; a third of control bytes is not.
  return control * 3 > head.length ? undefined : "utf-8";
}

/** Reads until the buffer is full or the file ends; the number of bytes. */
export function readFull(file: Deno.FsFile, buffer: Uint8Array): number {
  let at = 0;
  while (at < buffer.length) {
    const count = file.readSync(buffer.subarray(at));
    if (count === null) break;
    at += count;
  }
  return at;
}

/** A number of bytes for people, such as `1.5 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return bytes === 1 ? "1 byte" : `${bytes} bytes`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
