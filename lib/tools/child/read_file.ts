/**
 * The child side of `read_file`: lines of a text file, streamed, so that a huge file costs no more
 * memory than what is shown of it.
 *
 * @module
 */

import type { ChildRun } from "../../executor/serve_child.ts";
import { openChecked, pathTarget } from "./open_checked.ts";
import { formatBytes, readFull, SNIFF_BYTES, sniffText } from "./text.ts";
import { shownPath } from "./visible.ts";

interface Args {
  offset: number;
  limit: number;
}

/** Characters of one line that are shown. */
const MAX_LINE_CHARS = 4_000;
/** Bytes that are read beyond the lines shown, only to say how many lines there are. */
const MAX_COUNTED_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

/** Reads `limit` lines from line `offset` on. */
export const run: ChildRun = ({ task }) => {
  const target = pathTarget(task.target);
  const shown = shownPath(target.real, task.workspace);
  using file = openChecked(target, shown);
  const output = readLines(file, task.args as Args, shown, task.maxOutputBytes);
  return Promise.resolve({ type: "result", output });
};

function readLines(
  file: Deno.FsFile,
  { offset, limit }: Args,
  shown: string,
  maxBytes: number,
): string {
  const size = file.statSync().size;
  const buffer = new Uint8Array(CHUNK_BYTES);
  let count = readFull(file, buffer.subarray(0, SNIFF_BYTES));
  if (count === 0) return `[${shown} is empty]`;
  const encoding = sniffText(buffer.subarray(0, count));
  if (encoding === undefined) {
    throw new Error(`${shown} is a binary file of ${formatBytes(size)}, expected text`);
  }
  const decoder = new TextDecoder(encoding);
  const kept: string[] = [];
  let keptChars = 0;
  // What the output bound would cut in the middle is better left out at the end, by whole lines.
  const roomChars = Math.max(100, maxBytes - 300);
  let full = false;
  let lineNumber = 1;
  let line = "";
  let lineChars = 0;
  let bytes = count;

  const endLine = () => {
    if (lineNumber >= offset && kept.length < limit && !full) {
      const text = lineChars > line.length
        ? `${line.toWellFormed()} [… ${lineChars - line.length} characters of this line cut]`
        : line.replace(/\r$/, "");
      // No character takes more than three bytes; the sum is on the safe side.
      keptChars += text.length + 1;
      full = kept.length > 0 && keptChars > roomChars;
      if (!full) kept.push(text);
    }
    lineNumber++;
    line = "";
    lineChars = 0;
  };
  const take = (text: string) => {
    for (let at = 0; at < text.length;) {
      const end = text.indexOf("\n", at);
      const stop = end === -1 ? text.length : end;
      lineChars += stop - at;
      if (line.length < MAX_LINE_CHARS && lineNumber >= offset) {
        line += text.slice(at, Math.min(stop, at + MAX_LINE_CHARS - line.length));
      }
      if (end === -1) break;
      endLine();
      at = end + 1;
    }
  };
  const isDone = () => full || kept.length >= limit;
  let isWhole = false;
  for (;;) {
    take(decoder.decode(buffer.subarray(0, count), { stream: true }));
    if (isDone() && bytes > MAX_COUNTED_BYTES) break;
    const more = file.readSync(buffer);
    if (more === null) {
      take(decoder.decode());
      isWhole = true;
      break;
    }
    count = more;
    bytes += more;
  }
  if (isWhole && lineChars > 0) endLine();
  const total = lineNumber - 1;
  if (kept.length === 0) {
    throw new Error(`offset is ${offset}, but ${shown} has ${total} lines`);
  }
  const last = offset + kept.length - 1;
  if (isWhole && offset === 1 && last === total) return kept.join("\n");
  const of = isWhole ? `of ${total}` : `of more than ${total}`;
  const next = isWhole && last >= total ? "" : `; go on with offset ${last + 1}`;
  return `${kept.join("\n")}\n[lines ${offset} to ${last} ${of}${next}]`;
}
