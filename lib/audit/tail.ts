/**
 * The end of an audit file: the last record to go on from, and what a crash left behind it. Reads the
 * last part of the file only, however long it is.
 *
 * @module
 */

import { readLines } from "./lines.ts";
import { type AuditRecord, GENESIS, MAX_LINE_BYTES, parseRecord } from "./record.ts";

/** What a record is told by. */
export type RecordMark = Pick<AuditRecord, "hash" | "kind">;

/** Where a file ends. */
export interface AuditTail {
  /** Of the last whole record; 0 when there is none. */
  seq: number;
  hash: string;
  /** Milliseconds since 1970. */
  ts: number;
  /** Bytes up to the end of the last whole record. */
  size: number;
  /** What stands behind it: a line that was being written when its process died. */
  torn?: Uint8Array;
  /** The last records, by number. */
  recent: ReadonlyMap<number, RecordMark>;
}

/** Bytes from the end that are looked at: dozens of usual records, then two of the largest size. */
const WINDOWS = [64 * 1024, 2 * MAX_LINE_BYTES + 2];

/**
 * Finds the end. Throws when the records there do not hold together: that is no crash, and nothing may
 * be appended as if it were in order.
 */
export async function readTail(file: Deno.FsFile): Promise<AuditTail> {
  const { size } = await file.stat();
  for (const window of WINDOWS) {
    const from = Math.max(0, size - window);
    await file.seek(from, Deno.SeekMode.Start);
    const tail = findTail(await readAll(file, size - from), from);
    if (tail !== undefined) return tail;
  }
  throw new Error("no record can be read near its end");
}

/** The end in the bytes from `from` on; undefined when no whole record is in them. */
function findTail(bytes: Uint8Array, from: number): AuditTail | undefined {
  // Unless it is the file's, the first line has lost its beginning.
  let at = from === 0 ? 0 : bytes.indexOf(0x0a) + 1;
  if (from > 0 && at === 0) return undefined;
  let last: AuditRecord | undefined;
  const recent = new Map<number, RecordMark>();
  let end = at;
  let tornAt: number | undefined;
  while (at < bytes.length) {
    const newline = bytes.indexOf(0x0a, at);
    const stop = newline === -1 ? bytes.length : newline;
    const record = newline === -1
      ? { damage: "unreadable" as const }
      : parseRecord(new TextDecoder().decode(bytes.subarray(at, stop)));
    if ("damage" in record) {
      if (record.damage === "edited") throw new Error("a record near its end was changed");
      if (record.damage === "newer") {
        throw new Error("a newer program wrote its last records. Use that program, or a newer one");
      }
      tornAt ??= at;
    } else {
      if (tornAt !== undefined) throw new Error("a line near its end is damaged");
      if (last !== undefined && (record.prev !== last.hash || record.seq !== last.seq + 1)) {
        throw new Error(`record ${record.seq} near its end does not follow record ${last.seq}`);
      }
      last = record;
      recent.set(record.seq, { hash: record.hash, kind: record.kind });
      end = stop + 1;
    }
    at = stop + 1;
  }
  if (last === undefined && from > 0) return undefined;
  return {
    seq: last?.seq ?? 0,
    hash: last?.hash ?? GENESIS,
    ts: last?.ts ?? 0,
    size: from + end,
    torn: tornAt === undefined ? undefined : bytes.slice(tornAt),
    recent,
  };
}

/** The first record of a file; undefined when its first line is not whole. Throws when it is damaged. */
export async function readFirst(file: Deno.FsFile): Promise<AuditRecord | undefined> {
  await file.seek(0, Deno.SeekMode.Start);
  for await (const { text, ended } of readLines(file)) {
    if (!ended) return undefined;
    const record = text === undefined ? undefined : parseRecord(text);
    if (record === undefined || "damage" in record) throw new Error("its first record is damaged");
    return record;
  }
  return undefined;
}

async function readAll(file: Deno.FsFile, size: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(size);
  let at = 0;
  while (at < size) {
    const count = await file.read(bytes.subarray(at));
    if (count === null) break;
    at += count;
  }
  return bytes.subarray(0, at);
}
