/**
 * The number and hash of the audit log's last record, kept in the key folder. Whoever can write the log
 * but not the keys can't take it back, so a log that ends before it was cut, or is an older copy.
 *
 * It is written after every group of records without waiting for the disk, so it costs a record no
 * second fsync. It takes two slots in turn: one of them is whole whenever a power cut or a reader comes.
 *
 * @module
 */

import { writeFileAtomic } from "../base/atomic_write.ts";
import type { Log } from "../base/log.ts";
import { sha256Hex } from "../base/sha256.ts";
import { exists, readTextIfAny } from "./files.ts";

/** The last record of a log. */
export interface Head {
  /** 0: no record yet. */
  seq: number;
  hash: string;
}

/** Name of the file in the key folder. */
export const HEAD_FILE = "audit-head";

const SEQ_DIGITS = 16;
const CHECK_DIGITS = 16;
const SLOT = new RegExp(`^(\\d{${SEQ_DIGITS}}) ([0-9a-f]{64}) ([0-9a-f]{${CHECK_DIGITS}})$`);
const SLOT_BYTES = SEQ_DIGITS + 1 + 64 + 1 + CHECK_DIGITS + 1;

/** The head that a key folder knows; undefined where it has none, `"damaged"` where no slot is whole. */
export async function readHead(keysDir: string): Promise<Head | "damaged" | undefined> {
  const text = await readTextIfAny(`${keysDir}/${HEAD_FILE}`);
  return text === undefined ? undefined : newest(text)?.head ?? "damaged";
}

/** Makes the file where there is none. */
export async function makeHead(keysDir: string, head: Head): Promise<void> {
  const path = `${keysDir}/${HEAD_FILE}`;
  if (!await exists(path)) await writeFileAtomic(path, slotOf(head).repeat(2), { mode: 0o600 });
}

/** Writes the head of a log. */
export interface HeadFile {
  /** Notes the last record, whose line must be on the disk already. Never throws: the record counts. */
  note(head: Head): void;
  /** Waits for the disk, once, and closes. */
  close(): Promise<void>;
}

/** Opens the file that {@linkcode makeHead} has made. */
export async function openHead(keysDir: string, log: Log): Promise<HeadFile> {
  const path = `${keysDir}/${HEAD_FILE}`;
  /** Overwritten next: never the newest one. */
  let slot = newest(await readTextIfAny(path) ?? "")?.slot === 0 ? 1 : 0;
  const file = await Deno.open(path, { write: true });
  let lastFault: string | undefined;
  return {
    note(head) {
      const bytes = new TextEncoder().encode(slotOf(head));
      try {
        file.seekSync(slot * SLOT_BYTES, Deno.SeekMode.Start);
        for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
        slot = 1 - slot;
        lastFault = undefined;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        // Once a fault, not once a record.
        if (reason !== lastFault) log.error("Cannot write the audit log's head", { path, reason });
        lastFault = reason;
      }
    },
    async close() {
      await file.syncData().catch(() => {});
      file.close();
    },
  };
}

function slotOf({ seq, hash }: Head): string {
  const body = `${`${seq}`.padStart(SEQ_DIGITS, "0")} ${hash}`;
  return `${body} ${checkOf(body)}\n`;
}

function checkOf(body: string): string {
  return sha256Hex(body).slice(0, CHECK_DIGITS);
}

function newest(text: string): { head: Head; slot: number } | undefined {
  let found: { head: Head; slot: number } | undefined;
  for (const slot of [0, 1]) {
    const line = text.slice(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES - 1);
    const [, digits, hash, check] = SLOT.exec(line) ?? [];
    if (digits === undefined || check !== checkOf(`${digits} ${hash}`)) continue;
    const seq = Number(digits);
    if (found === undefined || seq > found.head.seq) found = { head: { seq, hash: hash! }, slot };
  }
  return found;
}
