/**
 * A checkpoint: which hash a record has, signed. Whoever can't sign can compute the chain anew, but not
 * the checkpoints in it, and can't cut the end above the last one.
 *
 * What is signed names its place. A checkpoint in the log says that a record is the log's; one in
 * `checkpoint.json` also says that the log reaches that far. So the first never stands for the second.
 *
 * @module
 */

import { writeFileAtomic } from "../base/atomic_write.ts";
import { canonicalJson } from "../base/canonical_json.ts";
import { CHECKPOINT_FILE, readTextIfAny } from "./files.ts";
import type { AuditRecord } from "./record.ts";
import type { AuditSigner, AuditVerifier } from "./signing_key.ts";

/** A signed statement about the record `seq`. */
export interface Checkpoint {
  v: CheckpointVersion;
  /** 0: there was no record yet. */
  seq: number;
  /** Hash of that record. */
  hash: string;
  /** Milliseconds since 1970. */
  ts: number;
  /** Fingerprint of the key. */
  key: string;
  /** Base64. */
  sig: string;
}

/** Version of the statement. In version 1 both places shared one purpose. */
type CheckpointVersion = 1 | 2;

/** Where a checkpoint stands: in the log, or in `checkpoint.json` and the mirror. */
export type CheckpointPlace = "log" | "file";

const PURPOSES: Readonly<Record<CheckpointPlace, string>> = {
  log: "service audit log.checkpoint",
  file: "service audit checkpoint.json",
};

/** What is said about a record. */
type Claim = Pick<Checkpoint, "v" | "seq" | "hash" | "ts">;

/** The bytes that are signed; they name their purpose, so that they mean nothing elsewhere. */
function checkpointText({ v, seq, hash, ts }: Claim, place: CheckpointPlace): string {
  const purpose = v === 1 ? "service audit checkpoint" : PURPOSES[place];
  return canonicalJson({ purpose, v, seq, hash, ts });
}

/** Signs for a record. */
export async function signCheckpoint(
  about: Pick<Checkpoint, "seq" | "hash" | "ts">,
  signer: AuditSigner,
  place: CheckpointPlace,
): Promise<Checkpoint> {
  const { seq, hash, ts } = about;
  const claim: Claim = { v: 2, seq, hash, ts };
  const sig = await signer.sign(checkpointText(claim, place));
  return { ...claim, key: signer.fingerprint, sig };
}

/** Whether a checkpoint was signed by its key for that place. */
export async function isGenuine(
  checkpoint: Checkpoint,
  verifier: AuditVerifier,
  place: CheckpointPlace,
): Promise<boolean> {
  return checkpoint.key === verifier.fingerprint &&
    await verifier.verify(checkpointText(checkpoint, place), checkpoint.sig);
}

/**
 * Whether a checkpoint of `checkpoint.json` may be about a record. Version 1 was signed alike in the log,
 * where it is about the record before a `log.checkpoint`; in the file it is about the `log.checkpoint`.
 */
export function mayCheckpoint({ v }: Checkpoint, { kind }: Pick<AuditRecord, "kind">): boolean {
  return v !== 1 || kind === "log.checkpoint";
}

/** The checkpoint in a `log.checkpoint` record; undefined when it is none. */
export function checkpointOf({ ts, data }: AuditRecord): Checkpoint | undefined {
  return toCheckpoint({ v: 1, ...data, hash: data.head, ts });
}

/** The data of a `log.checkpoint` record. */
export function checkpointData({ v, seq, hash, key, sig }: Checkpoint): Record<string, unknown> {
  return { v, seq, head: hash, key, sig };
}

/** Reads a checkpoint from its JSON; undefined when it is none. */
export function parseCheckpoint(text: string): Checkpoint | undefined {
  try {
    return toCheckpoint(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The last checkpoint of an audit folder: what the file holds, `"damaged"`, or undefined for none. */
export async function readCheckpoint(dir: string): Promise<Checkpoint | "damaged" | undefined> {
  const text = await readTextIfAny(`${dir}/${CHECKPOINT_FILE}`);
  return text === undefined ? undefined : parseCheckpoint(text) ?? "damaged";
}

/** Replaces the last checkpoint of an audit folder, whole or not at all. */
export async function storeCheckpoint(dir: string, checkpoint: Checkpoint): Promise<void> {
  await writeFileAtomic(`${dir}/${CHECKPOINT_FILE}`, canonicalJson(checkpoint) + "\n", {
    mode: 0o600,
  });
}

function toCheckpoint(value: unknown): Checkpoint | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { v, seq, hash, ts, key, sig } = value as Record<string, unknown>;
  if (
    v !== 1 && v !== 2 || !Number.isSafeInteger(seq) || (seq as number) < 0 ||
    typeof hash !== "string" || typeof ts !== "number" || typeof key !== "string" ||
    typeof sig !== "string"
  ) return undefined;
  return { v, seq: seq as number, hash, ts, key, sig };
}
