/**
 * The audit: an append-only record of chained lines, each on the disk before its append resolves.
 *
 * Appends that come while one is being written go out together with one fsync. Nothing is appended
 * after a record that could not be written whole: then every append rejects, and so no action runs.
 * Every so many records, every few minutes and at the end the chain is signed.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { RetentionStore } from "../contract/retention.ts";
import { writeFileAtomic } from "../base/atomic_write.ts";
import { sha256Hex } from "../base/sha256.ts";
import { signCheckpoint, storeCheckpoint } from "./checkpoint.ts";
import { type AuditTimers, FileAudit } from "./file_audit.ts";
import {
  assertFile,
  AUDIT_FILE,
  exists,
  listClosed,
  PUBLIC_KEY_FILE,
  readTextIfAny,
} from "./files.ts";
import { type Head, makeHead, openHead } from "./head_file.ts";
import { hasDigestKey, type KeyedDigest, openDigestKey } from "./key.ts";
import { createMirror } from "./mirror.ts";
import { findCut, readEnd } from "./open_end.ts";
import { createPruner } from "./prune.ts";
import type { AuditKind, AuditRecord } from "./record.ts";
import { type AuditSigner, openSigner } from "./signing_key.ts";

export { AUDIT_FILE } from "./files.ts";

/** An open audit. */
export interface AuditLog {
  /** The file. */
  readonly path: string;
  /** `audit.recordCommands`: whether a command may stand in clear. Absent: no. */
  readonly recordCommands?: boolean;
  /**
   * Resolves when the record is on the disk. Rejects with `audit_unavailable` when it is not; what it
   * was to precede must then not happen.
   */
  append(kind: AuditKind, data: Record<string, unknown>): Promise<AuditRecord>;
  /** HMAC-SHA-256, hex: stands for what must not be recorded in clear. */
  digest: KeyedDigest;
  /** Writes what waits, signs it and closes the file; later appends reject. */
  close(): Promise<void>;
}

/** An audit as its owner holds it. */
export interface OwnedAudit extends AuditLog {
  /** Writes beside the records and waits for the disk; rejects when nothing can be appended. */
  probe(): Promise<void>;
  /** Its closed files, whose removal it records itself. */
  retention: RetentionStore;
}

/** How an audit is opened; the section `audit` of the configuration fits in. */
export interface AuditOptions {
  /** Folder of the files, made with mode 0700. */
  dir: string;
  /** Folder of the keys, made with mode 0700. */
  keysDir: string;
  log: Log;
  recordCommands?: boolean;
  /** File that checkpoints are appended to as well; empty: none. */
  mirror?: string;
  /** Bytes after which a file is closed; 64 MiB. */
  rotateBytes?: number;
  /** Closed files that are kept; 0, the default: all. */
  keepFiles?: number;
  /** Records after which a checkpoint is written; 64. */
  checkpointEvery?: number;
  /** Milliseconds after which new records are signed though they are fewer; 5 minutes. */
  checkpointMs?: number;
  now?: () => number;
  timers?: AuditTimers;
}

/** Default of `audit.rotateBytes`. */
const DEFAULT_ROTATE_BYTES = 64 * 1024 * 1024;

/** Timers that keep no process alive. */
const PROCESS_TIMERS: AuditTimers = {
  set(run, ms) {
    const timer = setTimeout(run, ms);
    Deno.unrefTimer(timer);
    return timer;
  },
  clear: clearTimeout,
};

/**
 * Opens the audit of a folder, sets aside what a crash left unfinished at its end, and says in the
 * record when something of it is gone. Throws `audit_unavailable` when the file cannot be used or its
 * end does not hold together.
 */
export async function openAudit(options: AuditOptions): Promise<OwnedAudit> {
  const { dir, keysDir, log, now = Date.now } = options;
  const path = `${dir}/${AUDIT_FILE}`;
  let file: Deno.FsFile | undefined;
  try {
    await Deno.mkdir(dir, { recursive: true, mode: 0o700 });
    // The file is made before the key, so a key without a file means that the file was taken away.
    const isGone = await hasDigestKey(keysDir) && !await exists(path) &&
      (await listClosed(dir)).length === 0;
    if (await exists(path)) await assertFile(path);
    file = await Deno.open(path, { read: true, write: true, create: true, mode: 0o600 });
    const digest = await openDigestKey(keysDir);
    const end = await readEnd(dir, file);
    const signer = await openSigner(keysDir, (made) => beginSigning(options, made, end));
    await publishKey(dir, signer);
    const { cut, covered } = await findCut({ dir, keysDir, end, signer });
    await makeHead(keysDir, end);

    let pruner: ReturnType<typeof createPruner> | undefined;
    const audit = new FileAudit({
      dir,
      file,
      digest,
      signer,
      head: await openHead(keysDir, log),
      mirror: createMirror(options.mirror ?? "", log),
      tail: end,
      unsigned: end.seq - covered,
      now,
      timers: options.timers ?? PROCESS_TIMERS,
      log,
      recordCommands: options.recordCommands ?? false,
      rotateBytes: options.rotateBytes ?? DEFAULT_ROTATE_BYTES,
      checkpointEvery: options.checkpointEvery ?? 64,
      checkpointMs: options.checkpointMs ?? 5 * 60_000,
      onRotated: () => pruner?.start(),
    });
    // From here on the audit closes its file itself, which a rotation replaces.
    file = undefined;
    try {
      if (end.torn !== undefined) await setAside(end.torn, audit, end.size, options);
      if (isGone) {
        await audit.append("log.gone", { signed: cut?.signed ?? 0 });
        log.error("The audit record is gone; a new one begins by saying so", { file: path });
      } else if (cut !== undefined) {
        await audit.append("log.cut", { ...cut });
        log.error("A part of the audit record that was signed is gone or changed", {
          file: path,
          ...cut,
        });
      }
      await audit.checkpoint();
      pruner = createPruner({ dir, keepFiles: options.keepFiles ?? 0, audit, now, log });
      pruner.start();
    } catch (error) {
      await audit.close();
      throw error;
    }
    const { stop, retention } = pruner;
    return {
      path,
      recordCommands: audit.recordCommands,
      digest,
      append: (kind, data) => audit.append(kind, data),
      probe: () => audit.probe(),
      retention,
      async close() {
        await stop();
        await audit.close();
      },
    };
  } catch (error) {
    file?.close();
    if (error instanceof ServiceError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new ServiceError("audit_unavailable", `Cannot use the audit "${path}": ${reason}`, {}, {
      cause: error,
    });
  }
}

/**
 * Makes the first checkpoint of a new key, and the head. They are there before the key is, so a key
 * without them means that they were taken away.
 */
async function beginSigning(
  { dir, keysDir, log, now = Date.now }: AuditOptions,
  signer: AuditSigner,
  { seq, hash }: Head,
): Promise<void> {
  log.info("The audit is signed with a new key", {
    fingerprint: signer.fingerprint,
    publicKey: `${dir}/${PUBLIC_KEY_FILE}`,
  });
  await makeHead(keysDir, { seq, hash });
  await storeCheckpoint(dir, await signCheckpoint({ seq, hash, ts: now() }, signer, "file"));
}

/** Puts the public key beside the records. */
async function publishKey(dir: string, { publicKey }: AuditSigner): Promise<void> {
  const path = `${dir}/${PUBLIC_KEY_FILE}`;
  if (await readTextIfAny(path) === publicKey) return;
  await writeFileAtomic(path, publicKey, { mode: 0o644 });
}

/** Moves an unfinished end into a file of its own; only then is it cut off and put on record. */
async function setAside(
  torn: Uint8Array,
  audit: FileAudit,
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
  await Deno.truncate(audit.path, size);
  await audit.append("log.torn", { aside, bytes: torn.length, sha256: sha256Hex(torn) });
  log.warning("The audit's last line was unfinished and is set aside", { file: `${dir}/${aside}` });
}
