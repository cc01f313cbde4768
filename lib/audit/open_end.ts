/**
 * Where an audit goes on when it is opened: behind the last record, if what was signed is still there.
 *
 * @module
 */

import { isGenuine, mayCheckpoint, readCheckpoint } from "./checkpoint.ts";
import { AUDIT_FILE, closedName, listClosed } from "./files.ts";
import { readHead } from "./head_file.ts";
import { readLines } from "./lines.ts";
import { GENESIS, parseRecord } from "./record.ts";
import { type AuditSigner, importVerifier } from "./signing_key.ts";
import { readFirst, readTail, type RecordMark } from "./tail.ts";

/** The end of an audit. */
export interface AuditEnd {
  /** Of the last record, which may stand in the file that was closed last; 0: there is none. */
  seq: number;
  hash: string;
  /** Bytes of whole records in the file that is written to. */
  size: number;
  torn?: Uint8Array;
  /** Number of the first record of the file that is written to. */
  firstSeq?: number;
  recent: ReadonlyMap<number, RecordMark>;
}

/** What the last checkpoint or the key folder knows of, and the log doesn't hold. */
export interface AuditCut {
  reason:
    | "missing"
    | "changed"
    | "no_checkpoint"
    | "forged_checkpoint"
    | "no_head"
    | "damaged_head";
  /** Number of the last record that is known of; 0 when that is not known. */
  signed: number;
  /** Number of the last record that is there. */
  found: number;
}

/** Reads the end. Throws when the last records do not hold together. */
export async function readEnd(dir: string, file: Deno.FsFile): Promise<AuditEnd> {
  const tail = await readTail(file);
  const closed = await listClosed(dir);
  const before = closed.at(-1) === undefined ? undefined : await readClosedEnd(dir, closed.at(-1)!);
  const first = tail.seq === 0 ? undefined : await readFirst(file);
  if (first === undefined) {
    const { seq, hash } = before ?? { seq: 0, hash: GENESIS };
    return { ...tail, seq, hash, recent: before?.recent ?? new Map() };
  }
  const [seq, hash] = before === undefined ? [0, GENESIS] : [before.seq, before.hash];
  if (first.seq !== seq + 1 || first.prev !== hash) {
    throw new Error(`its beginning is missing: no file ends with the record before ${first.seq}`);
  }
  return { ...tail, firstSeq: first.seq };
}

async function readClosedEnd(dir: string, firstSeq: number) {
  const name = closedName(firstSeq);
  using file = await Deno.open(`${dir}/${name}`, { read: true });
  const tail = await readTail(file);
  if (tail.torn !== undefined || tail.seq === 0) throw new Error(`"${name}" ends within a record`);
  return tail;
}

/**
 * Holds the key folder's head and the last checkpoint against the end. `covered` is the number of the
 * last record that is signed; after a cut none is.
 */
export async function findCut(
  { dir, keysDir, end, signer }: {
    dir: string;
    keysDir: string;
    end: AuditEnd;
    signer: AuditSigner;
  },
): Promise<{ cut?: AuditCut; covered: number }> {
  const found = end.seq;
  const cut = (reason: AuditCut["reason"], signed = 0) => ({
    cut: { reason, signed, found },
    covered: 0,
  });
  const head = await readHead(keysDir);
  if (head === "damaged") return cut("damaged_head");
  if (head !== undefined && head.seq > found) return cut("missing", head.seq);
  if (head !== undefined && head.seq > 0) {
    const record = await recordOf(dir, head.seq, end);
    if (record?.hash !== head.hash) return cut("changed", head.seq);
  }
  const checkpoint = await readCheckpoint(dir);
  if (checkpoint === undefined) return cut("no_checkpoint");
  const verifier = await importVerifier(signer.publicKey, "the audit's own key");
  if (checkpoint === "damaged" || !await isGenuine(checkpoint, verifier, "file")) {
    return cut("forged_checkpoint");
  }
  const { seq, hash } = checkpoint;
  if (seq > found) return cut("missing", seq);
  if (seq > 0) {
    const record = await recordOf(dir, seq, end);
    if (record?.hash !== hash) return cut("changed", seq);
    if (!mayCheckpoint(checkpoint, record)) return cut("forged_checkpoint");
  }
  // Logs written before there was a head have checkpoints of version 1.
  if (head === undefined && checkpoint.v > 1) return cut("no_head", seq);
  return { covered: seq };
}

/** A record; undefined when it is not there. Looks through a whole file only if it must. */
async function recordOf(dir: string, seq: number, end: AuditEnd): Promise<RecordMark | undefined> {
  const recent = end.recent.get(seq);
  if (recent !== undefined) return recent;
  const inCurrent = end.firstSeq !== undefined && seq >= end.firstSeq;
  const firstSeq = (await listClosed(dir)).findLast((first) => first <= seq);
  if (!inCurrent && firstSeq === undefined) return undefined;
  using file = await Deno.open(`${dir}/${inCurrent ? AUDIT_FILE : closedName(firstSeq!)}`);
  for await (const { text } of readLines(file)) {
    // Cheap to tell; only the line that may be it is read.
    if (text === undefined || !text.includes(`"seq":${seq}`)) continue;
    const record = parseRecord(text);
    if (!("damage" in record) && record.seq === seq) return record;
  }
  return undefined;
}
