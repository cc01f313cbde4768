/**
 * Writes an audit: chains records, puts them on the disk in groups, signs checkpoints, and closes a
 * file that is full.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { checkpointData, signCheckpoint, storeCheckpoint } from "./checkpoint.ts";
import { AUDIT_FILE, closedName, exists, syncFolder } from "./files.ts";
import type { HeadFile } from "./head_file.ts";
import type { KeyedDigest } from "./key.ts";
import type { CheckpointMirror } from "./mirror.ts";
import { type AuditKind, type AuditRecord, MAX_LINE_BYTES, sealRecord } from "./record.ts";
import type { AuditSigner } from "./signing_key.ts";

/** Timers of the checkpoints. */
export interface AuditTimers {
  set(run: () => void, ms: number): ReturnType<typeof setTimeout>;
  clear(timer: ReturnType<typeof setTimeout>): void;
}

/** What a {@linkcode FileAudit} is made of. */
export interface FileAuditDeps {
  dir: string;
  file: Deno.FsFile;
  digest: KeyedDigest;
  signer: AuditSigner;
  head: HeadFile;
  mirror: CheckpointMirror;
  /** Where the file ends. `firstSeq`: of its first record; undefined when it has none. */
  tail: { seq: number; hash: string; size: number; firstSeq?: number };
  /** Records that no checkpoint covers yet. */
  unsigned: number;
  now: () => number;
  timers: AuditTimers;
  log: Log;
  recordCommands: boolean;
  rotateBytes: number;
  checkpointEvery: number;
  checkpointMs: number;
  /** Called after a file was closed. */
  onRotated: () => void;
}

/** Appends that wait for the disk; more reject. */
const MAX_PENDING = 10_000;

/** How long the end of the mirror is waited for. */
const MIRROR_CLOSE_MS = 2_000;

interface Pending {
  kind: AuditKind;
  data: Record<string, unknown>;
  resolve(record: AuditRecord): void;
  reject(error: unknown): void;
}

/** As much as a record takes. */
const PROBE = new Uint8Array(4_096);

/** See {@linkcode AuditLog}. Nothing is appended after a record that could not be written whole. */
export class FileAudit {
  readonly path: string;
  readonly digest: KeyedDigest;
  readonly recordCommands: boolean;
  readonly #deps: FileAuditDeps;
  readonly #pending: Pending[] = [];
  #file: Deno.FsFile;
  #seq: number;
  #hash: string;
  #size: number;
  #firstSeq: number | undefined;
  #unsigned: number;
  #checkpointDue = false;
  /** The file is closed when it has this many bytes. */
  #rotateAt: number;
  #opened = false;
  #writing: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #broken: ServiceError | undefined;
  #closed = false;

  constructor(deps: FileAuditDeps) {
    const { dir, file, digest, recordCommands, tail, unsigned, rotateBytes } = deps;
    this.#deps = deps;
    this.path = `${dir}/${AUDIT_FILE}`;
    this.digest = digest;
    this.recordCommands = recordCommands;
    this.#file = file;
    this.#seq = tail.seq;
    this.#hash = tail.hash;
    this.#size = tail.size;
    this.#firstSeq = tail.firstSeq;
    this.#unsigned = unsigned;
    this.#rotateAt = rotateBytes;
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

  /** Signs what no checkpoint covers. Never rejects: what cannot be signed now is signed later. */
  async checkpoint(): Promise<void> {
    if (this.#broken !== undefined) return;
    this.#checkpointDue = true;
    await (this.#writing ??= this.#writeAll());
  }

  /** Signs it, closes the file and begins the next one. Never rejects: a file that cannot be closed goes on. */
  async closeFile(): Promise<void> {
    this.#rotateAt = 0;
    await this.checkpoint();
  }

  /** Writes beside the records and waits for the disk; rejects when nothing can be appended. */
  async probe(): Promise<void> {
    if (this.#broken !== undefined) throw this.#broken;
    const path = `${this.#deps.dir}/.probe`;
    try {
      if ((await this.#file.stat()).nlink === 0) throw new Error("the file was removed");
      try {
        using file = await Deno.open(path, { write: true, create: true, mode: 0o600 });
        await file.write(PROBE);
        await file.syncData();
      } finally {
        await Deno.remove(path).catch(() => {});
      }
    } catch (cause) {
      throw unavailable(`Cannot write to the audit "${this.path}": ${messageOf(cause)}`, cause);
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    await this.checkpoint();
    // A second close may have come while this one waited.
    if (this.#closed) return;
    this.#closed = true;
    this.#broken = unavailable(`The audit "${this.path}" is closed`);
    this.#stopTimer();
    this.#file.close();
    await this.#deps.head.close();
    await this.#deps.mirror.close(MIRROR_CLOSE_MS);
  }

  async #writeAll(): Promise<void> {
    // Everything that is asked for in this turn of the event loop goes out together.
    await Promise.resolve();
    while (this.#pending.length > 0 || this.#checkpointDue) {
      const due = this.#checkpointDue;
      this.#checkpointDue = false;
      await this.#writeGroup(this.#pending.splice(0), due);
    }
    if (this.#unsigned > 0) this.#startTimer();
    // In the same step as the last look: what comes from now on starts a writer of its own.
    this.#writing = undefined;
  }

  async #writeGroup(group: readonly Pending[], due: boolean): Promise<void> {
    if (this.#broken !== undefined) {
      for (const { reject } of group) reject(this.#broken);
      return;
    }
    const isDue = this.#unsigned > 0 || this.#size > 0 && this.#rotateAt === 0;
    if (group.length === 0 && !isDue) return;
    let [seq, hash, unsigned] = [this.#seq, this.#hash, this.#unsigned];
    const parts: Uint8Array[] = [];
    let bytes = 0;
    const sealed: (() => void)[] = [];
    const seal = (kind: AuditKind, data: Record<string, unknown>, ts = this.#deps.now()) => {
      const next = sealRecord({ seq: seq + 1, ts, kind, prev: hash, data });
      if (next.line.length * 3 > MAX_LINE_BYTES) {
        throw unavailable(`A record of ${next.line.length} characters is too long for the audit`);
      }
      [seq, hash] = [next.record.seq, next.record.hash];
      unsigned++;
      const line = new TextEncoder().encode(next.line);
      parts.push(line);
      bytes += line.length;
      return next.record;
    };
    try {
      if (!this.#opened) {
        const { signer } = this.#deps;
        seal("log.open", { pid: Deno.pid, deno: Deno.version.deno, key: signer.fingerprint });
      }
      for (const { kind, data, resolve, reject } of group) {
        try {
          const record = seal(kind, data);
          sealed.push(() => resolve(record));
        } catch (error) {
          reject(error);
        }
      }
      const full = this.#size + bytes >= this.#rotateAt;
      const signs = due || full || unsigned >= this.#deps.checkpointEvery;
      if (signs) {
        const ts = this.#deps.now();
        const claim = await signCheckpoint({ seq, hash, ts }, this.#deps.signer, "log");
        seal("log.checkpoint", checkpointData(claim), ts);
      }
      await this.#write(parts, bytes);
      this.#firstSeq ??= this.#seq + 1;
      [this.#seq, this.#hash, this.#opened, this.#unsigned] = [seq, hash, true, unsigned];
      this.#deps.head.note({ seq, hash });
      for (const resolve of sealed) resolve();
      if (signs) await this.#publish();
      if (full) await this.#rotate();
    } catch (cause) {
      const error = unavailable(
        `Cannot write to the audit "${this.path}": ${messageOf(cause)}`,
        cause,
      );
      for (const { reject } of group) reject(error);
      // Nobody waits for a checkpoint alone.
      if (group.length === 0) this.#deps.log.error(error.message);
    }
  }

  /** Says outside of the file how far it reaches; the record itself is on the disk already. */
  async #publish(): Promise<void> {
    const { dir, signer, mirror, now, log } = this.#deps;
    this.#unsigned = 0;
    this.#stopTimer();
    try {
      const claim = { seq: this.#seq, hash: this.#hash, ts: now() };
      const checkpoint = await signCheckpoint(claim, signer, "file");
      mirror.add(checkpoint);
      await storeCheckpoint(dir, checkpoint);
    } catch (error) {
      log.error("Cannot store the audit's checkpoint", { dir, reason: messageOf(error) });
    }
  }

  /**
   * Closes the file, which ends with a checkpoint, and begins the next one. A crash between the two
   * steps leaves no file to write to; the next start makes it. Where it fails the file goes on.
   */
  async #rotate(): Promise<void> {
    const { dir, rotateBytes, log, onRotated } = this.#deps;
    const closed = `${dir}/${closedName(this.#firstSeq!)}`;
    try {
      if (await exists(closed)) throw new Error(`"${closed}" is there already`);
      await Deno.rename(this.path, closed);
      let next: Deno.FsFile;
      try {
        next = await Deno.open(this.path, {
          read: true,
          write: true,
          createNew: true,
          mode: 0o600,
        });
      } catch (error) {
        await Deno.rename(closed, this.path);
        throw error;
      }
      await syncFolder(dir);
      this.#file.close();
      this.#file = next;
      this.#size = 0;
      this.#firstSeq = undefined;
      this.#rotateAt = rotateBytes;
      onRotated();
    } catch (error) {
      this.#rotateAt = this.#size + rotateBytes;
      log.error("Cannot begin a new file of the audit; this one goes on", {
        file: this.path,
        reason: messageOf(error),
      });
    }
  }

  /** Writes at the end and waits for the disk; on failure the file is as it was, or is given up. */
  async #write(parts: readonly Uint8Array[], bytes: number): Promise<void> {
    // A record in a file that nobody can find any more is none.
    if ((await this.#file.stat()).nlink === 0) throw new Error("the file was removed");
    try {
      await this.#file.seek(this.#size, Deno.SeekMode.Start);
      const joined = new Uint8Array(bytes);
      let to = 0;
      for (const part of parts) {
        joined.set(part, to);
        to += part.length;
      }
      for (let at = 0; at < bytes;) at += await this.#file.write(joined.subarray(at));
      await this.#file.syncData();
      this.#size += bytes;
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

  #startTimer(): void {
    if (this.#timer !== undefined || this.#closed) return;
    this.#timer = this.#deps.timers.set(() => {
      this.#timer = undefined;
      void this.checkpoint();
    }, this.#deps.checkpointMs);
  }

  #stopTimer(): void {
    if (this.#timer !== undefined) this.#deps.timers.clear(this.#timer);
    this.#timer = undefined;
  }
}

function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError("audit_unavailable", message, {}, { cause });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
