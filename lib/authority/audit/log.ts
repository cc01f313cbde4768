/**
 * The audit: an append-only file of chained records, each on the disk before its append resolves
 * (decisions E8).
 *
 * Appends that come while one is being written go out together with one fsync. Nothing is appended
 * after a record that could not be written whole: then every append rejects, and so no action runs.
 *
 * @module
 */

import { ServiceError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { sha256Hex } from "../canonical_json.ts";
import { hasDigestKey, type KeyedDigest, openDigestKey } from "./key.ts";
import { type AuditKind, type AuditRecord, MAX_LINE_BYTES, sealRecord } from "./record.ts";
import { readTail } from "./tail.ts";

/** An open audit. */
export interface AuditLog {
  /** The file. */
  readonly path: string;
  /**
   * Resolves when the record is on the disk. Rejects with `audit_unavailable` when it is not; what it
   * was to precede must then not happen.
   */
  append(kind: AuditKind, data: Record<string, unknown>): Promise<AuditRecord>;
  /** HMAC-SHA-256, hex: stands for what must not be recorded in clear. */
  digest: KeyedDigest;
  /** Writes what waits and closes the file; later appends reject. */
  close(): Promise<void>;
}

/** How an audit is opened. */
export interface AuditOptions {
  /** Folder of the file, made with mode 0700. */
  dir: string;
  /** Folder of the key, made with mode 0700. */
  keysDir: string;
  log: Log;
  now?: () => number;
}

/** Name of the file in its folder. */
export const AUDIT_FILE = "audit.jsonl";

/** Appends that wait for the disk; more reject. */
const MAX_PENDING = 10_000;

interface Pending {
  kind: AuditKind;
  data: Record<string, unknown>;
  resolve(record: AuditRecord): void;
  reject(error: unknown): void;
}

/**
 * Opens the audit of a folder, and sets aside what a crash left unfinished at its end. Throws
 * `audit_unavailable` when the file cannot be used or its end does not hold together.
 */
export async function openAudit(options: AuditOptions): Promise<AuditLog> {
  const path = `${options.dir}/${AUDIT_FILE}`;
  let file: Deno.FsFile | undefined;
  try {
    await Deno.mkdir(options.dir, { recursive: true, mode: 0o700 });
    // The file is made before the key, so a key without a file means that the file was taken away.
    const gone = await hasDigestKey(options.keysDir) && !await exists(path);
    file = await Deno.open(path, { read: true, write: true, create: true, mode: 0o600 });
    const digest = await openDigestKey(options.keysDir);
    const tail = await readTail(file);
    const audit = new FileAudit(path, file, digest, tail, options.now ?? Date.now);
    if (tail.torn !== undefined) await setAside(tail.torn, audit, file, tail.size, options);
    if (gone) {
      await audit.append("log.gone", {});
      options.log.error("The audit record is gone; a new one begins by saying so", { file: path });
    }
    return audit;
  } catch (error) {
    file?.close();
    if (error instanceof ServiceError) throw error;
    throw unavailable(`Cannot use the audit "${path}": ${messageOf(error)}`, error);
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

async function setAside(
  torn: Uint8Array,
  audit: FileAudit,
  file: Deno.FsFile,
  size: number,
  { dir, log, now = Date.now }: AuditOptions,
): Promise<void> {
  const aside = `torn-${now()}.jsonl`;
  const side = await Deno.open(`${dir}/${aside}`, {
    write: true,
    create: true,
    truncate: true,
    mode: 0o600,
  });
  try {
    for (let at = 0; at < torn.length;) at += await side.write(torn.subarray(at));
    await side.sync();
  } finally {
    side.close();
  }
  await file.truncate(size);
  await audit.append("log.torn", { aside, bytes: torn.length, sha256: sha256Hex(torn) });
  log.warning("The audit's last line was unfinished and is set aside", { file: `${dir}/${aside}` });
}

class FileAudit implements AuditLog {
  readonly path: string;
  readonly digest: KeyedDigest;
  readonly #file: Deno.FsFile;
  readonly #now: () => number;
  readonly #pending: Pending[] = [];
  #seq: number;
  #hash: string;
  #size: number;
  #opened = false;
  #writing: Promise<void> | undefined;
  #broken: ServiceError | undefined;

  constructor(
    path: string,
    file: Deno.FsFile,
    digest: KeyedDigest,
    tail: { seq: number; hash: string; size: number },
    now: () => number,
  ) {
    this.path = path;
    this.digest = digest;
    this.#file = file;
    this.#seq = tail.seq;
    this.#hash = tail.hash;
    this.#size = tail.size;
    this.#now = now;
  }

  append(kind: AuditKind, data: Record<string, unknown>): Promise<AuditRecord> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken);
    if (this.#pending.length >= MAX_PENDING) {
      return Promise.reject(unavailable(`${MAX_PENDING} records wait for the disk already`));
    }
    const { promise, resolve, reject } = Promise.withResolvers<AuditRecord>();
    this.#pending.push({ kind, data, resolve, reject });
    this.#writing ??= this.#writeAll();
    return promise;
  }

  async close(): Promise<void> {
    await this.#writing;
    if (this.#broken === undefined || !this.#broken.message.endsWith(CLOSED)) {
      this.#broken = unavailable(`The audit "${this.path}" ${CLOSED}`);
      this.#file.close();
    }
  }

  async #writeAll(): Promise<void> {
    // Everything that is asked for in this turn of the event loop goes out together.
    await Promise.resolve();
    while (this.#pending.length > 0) await this.#writeGroup(this.#pending.splice(0));
    // In the same step as the last look: what comes from now on starts a writer of its own.
    this.#writing = undefined;
  }

  async #writeGroup(group: readonly Pending[]): Promise<void> {
    let [seq, hash] = [this.#seq, this.#hash];
    let text = "";
    const sealed: (() => void)[] = [];
    const seal = (kind: AuditKind, data: Record<string, unknown>) => {
      const next = sealRecord({ seq: seq + 1, ts: this.#now(), kind, prev: hash, data });
      if (next.line.length * 3 > MAX_LINE_BYTES) {
        throw unavailable(`A record of ${next.line.length} characters is too long for the audit`);
      }
      [seq, hash] = [next.record.seq, next.record.hash];
      text += next.line;
      return next.record;
    };
    if (!this.#opened) seal("log.open", { pid: Deno.pid, deno: Deno.version.deno });
    for (const { kind, data, resolve, reject } of group) {
      try {
        const record = seal(kind, data);
        sealed.push(() => resolve(record));
      } catch (error) {
        reject(error);
      }
    }
    try {
      await this.#write(new TextEncoder().encode(text));
      [this.#seq, this.#hash, this.#opened] = [seq, hash, true];
      for (const resolve of sealed) resolve();
    } catch (cause) {
      const error = unavailable(
        `Cannot write to the audit "${this.path}": ${messageOf(cause)}`,
        cause,
      );
      for (const { reject } of group) reject(error);
    }
  }

  /** Writes at the end and waits for the disk; on failure the file is as it was, or is given up. */
  async #write(bytes: Uint8Array): Promise<void> {
    // A record in a file that nobody can find any more is none.
    if ((await this.#file.stat()).nlink === 0) throw new Error("the file was removed");
    try {
      await this.#file.seek(this.#size, Deno.SeekMode.Start);
      for (let at = 0; at < bytes.length;) at += await this.#file.write(bytes.subarray(at));
      await this.#file.syncData();
      this.#size += bytes.length;
    } catch (error) {
      try {
        await this.#file.truncate(this.#size);
        await this.#file.syncData();
      } catch {
        this.#broken = unavailable(`The audit "${this.path}" cannot be written any more`, error);
      }
      throw error;
    }
  }
}

const CLOSED = "is closed";

function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError("audit_unavailable", message, {}, { cause });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
