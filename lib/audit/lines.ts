/**
 * Lines of an audit file, read as a stream: never more than one line in memory, however long.
 *
 * @module
 */

import { MAX_LINE_BYTES } from "./record.ts";

/** A line. */
export interface AuditLine {
  /** Undefined: longer than a record can be. */
  text?: string;
  /** Whether a line end follows; without one it is being written, or was cut off. */
  ended: boolean;
  /** Without its end. */
  bytes: number;
}

const CHUNK_BYTES = 256 * 1024;

/**
 * Reads lines of an open file from where it stands, until its end as it is then. What stands there
 * without a line end comes last, and is read again by the next call.
 */
export async function* readLines(
  file: Deno.FsFile,
  signal?: AbortSignal,
): AsyncGenerator<AuditLine> {
  const decoder = new TextDecoder();
  const chunk = new Uint8Array(CHUNK_BYTES);
  let rest = new Uint8Array();
  while (true) {
    signal?.throwIfAborted();
    const count = await file.read(chunk);
    if (count === null) break;
    let bytes = chunk.subarray(0, count);
    if (rest.length > 0) {
      const joined = new Uint8Array(rest.length + count);
      joined.set(rest);
      joined.set(bytes, rest.length);
      bytes = joined;
    }
    let at = 0;
    for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, at)) {
      const isLong = end - at > MAX_LINE_BYTES;
      const text = isLong ? undefined : decoder.decode(bytes.subarray(at, end));
      yield { text, ended: true, bytes: end - at };
      at = end + 1;
    }
    rest = bytes.slice(at);
    if (rest.length > MAX_LINE_BYTES) {
      yield { ended: false, bytes: rest.length };
      return;
    }
  }
  if (rest.length > 0) {
    yield { text: decoder.decode(rest), ended: false, bytes: rest.length };
    await file.seek(-rest.length, Deno.SeekMode.Current);
  }
}
