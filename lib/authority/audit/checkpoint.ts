/**
 * A checkpoint: which hash a record has, signed (decisions E8). Who cannot sign can compute the chain
 * anew, but not the checkpoints in it; and who cuts the end cuts below the last one.
 *
 * @module
 */

import { writeFileAtomic } from "../../config/atomic_write.ts";
import { canonicalJson } from "../canonical_json.ts";
import { CHECKPOINT_FILE, readTextIfAny } from "./files.ts";
import type { AuditRecord } from "./record.ts";
import type { AuditSigner, AuditVerifier } from "./signing_key.ts";

/** A signed statement about the record `seq`. */
export interface Checkpoint {
  v: number;
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

/** Version of the statement. */
const CHECKPOINT_VERSION = 1;

/** What is said about a record. */
type Claim = Pick<Checkpoint, "seq" | "hash" | "ts">;

/** The bytes that are signed; they name their purpose, so that they mean nothing elsewhere. */
export function checkpointText({ seq, hash, ts }: Claim): string {
  return canonicalJson({
    purpose: "service audit checkpoint",
    v: CHECKPOINT_VERSION,
    seq,
    hash,
    ts,
  });
}

/** Signs for a record. */
export async function signCheckpoint(claim: Claim, signer: AuditSigner): Promise<Checkpoint> {
  const { seq, hash, ts } = claim;
  const sig = await signer.sign(checkpointText(claim));
  return { v: CHECKPOINT_VERSION, seq, hash, ts, key: signer.fingerprint, sig };
}

/** Whether a checkpoint's signature is that of its key. */
export async function isGenuine(checkpoint: Checkpoint, verifier: AuditVerifier): Promise<boolean> {
  return checkpoint.key === verifier.fingerprint &&
    await verifier.verify(checkpointText(checkpoint), checkpoint.sig);
}

/** The checkpoint in a `log.checkpoint` record; undefined when it is none. */
export function checkpointOf({ ts, data }: AuditRecord): Checkpoint | undefined {
  return toCheckpoint({ ...data, hash: data.head, v: CHECKPOINT_VERSION, ts });
}

/** The data of a `log.checkpoint` record. */
export function checkpointData({ seq, hash, key, sig }: Checkpoint): Record<string, unknown> {
  return { seq, head: hash, key, sig };
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
    v !== CHECKPOINT_VERSION || !Number.isSafeInteger(seq) || (seq as number) < 0 ||
    typeof hash !== "string" || typeof ts !== "number" || typeof key !== "string" ||
    typeof sig !== "string"
  ) return undefined;
  return { v, seq: seq as number, hash, ts, key, sig };
}
