/**
 * The verdict about an audit folder: what `verify` prints and `export` begins with.
 *
 * @module
 */

import { findTrustedKeys } from "./trusted_keys.ts";
import { type AuditFinding, type UnknownAction, verifyAudit } from "./verify.ts";
import { ServiceError } from "../base/errors.ts";

/** What is judged. */
export interface JudgeOptions {
  dir: string;
  /** Absent: a copy is verified, away from its service. */
  keysDir?: string;
  /** Files of public keys. */
  publicKeys: readonly string[];
  mirror: string;
  knownLosses: ReadonlySet<number>;
  signal?: AbortSignal;
  onProgress?: (progress: { bytes: number; records: number }) => void;
}

/** The verdict, as JSON shows it. */
export interface Verdict {
  ok: boolean;
  /** What is wrong; absent when nothing is. */
  problem?: string;
  message?: string;
  file?: string;
  line?: number;
  records?: number;
  files?: number;
  firstSeq?: number;
  /** When the records before that one were pruned; absent when none were. */
  prunedAt?: string;
  headHash?: string;
  /** The last record that a signature covers; null: nothing is signed. */
  signedSeq?: number | null;
  signedAt?: string | null;
  tornBytes?: number;
  /** Actions that began and whose end is not on record. */
  unknown?: UnknownAction[];
  unknownMore?: number;
  mirror: string | null;
  /** Keys whose signatures counted, PEM, and the SHA-256 of their DER form. */
  keys: { fingerprint: string; publicKey: string }[];
  /** Why they count: see {@linkcode TrustedKeys}. */
  keysFrom: string;
}

/** Verifies everything. Throws `NotFound` when there is no audit and never was one. */
export async function judgeAudit(options: JudgeOptions): Promise<Verdict> {
  const { dir, keysDir, publicKeys, mirror, knownLosses, signal, onProgress } = options;
  const trusted = await findTrustedKeys({ dir, keysDir, given: publicKeys }).catch((cause) => {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceError("invalid_request", message, { param: "public-key" }, { cause });
  });
  const about = {
    mirror: mirror === "" ? null : mirror,
    keys: trusted.keys.map(({ fingerprint, publicKey }) => ({ fingerprint, publicKey })),
    keysFrom: trusted.from,
  };
  let finding: AuditFinding;
  try {
    finding = await verifyAudit({
      dir,
      keysDir,
      keys: trusted.keys,
      mirror,
      knownLosses,
      signal,
      onProgress,
    });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound) || trusted.keys.length === 0) throw error;
    return {
      ok: false,
      problem: "gone",
      message: `there is no record in "${dir}", and there is a key that signed one`,
      ...about,
    };
  }
  if (!finding.ok) return { ...finding, ...about };
  if (trusted.isReplaced) {
    return {
      ok: false,
      problem: "key",
      message: `"${dir}/audit.pub" is not the key that this service signs with`,
      ...about,
    };
  }
  const { records, files, first, prunedAt, head, signed, tornBytes, unknown, unknownMore } =
    finding;
  return {
    ok: true,
    records,
    files,
    firstSeq: first,
    ...prunedAt !== undefined && { prunedAt: new Date(prunedAt).toISOString() },
    headHash: head,
    signedSeq: signed?.seq ?? null,
    signedAt: signed === undefined ? null : new Date(signed.ts).toISOString(),
    tornBytes,
    unknown,
    unknownMore,
    ...about,
  };
}
