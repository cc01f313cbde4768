/**
 * A line of the audit: what it holds, and how it is chained to the one before (decisions E8).
 *
 * @module
 */

import { canonicalJson, sha256Hex } from "../canonical_json.ts";

/** Version of the format. */
export const AUDIT_VERSION = 1;

/** `prev` of the first record. */
export const GENESIS = "0".repeat(64);

/** Bytes of one line; a larger record is a fault of the caller, and a larger line is damage. */
export const MAX_LINE_BYTES = 1024 * 1024;

/**
 * What a record is about. `log.open`: a process began to write here. `log.torn`: an unfinished end was
 * set aside. An `action.start` without its `action.end` is an action whose end is unknown.
 */
export type AuditKind =
  | "log.open"
  | "log.torn"
  /** There was a record before this file; where it went is not known. */
  | "log.gone"
  | "action.refused"
  | "action.start"
  | "action.end";

/** One record. */
export interface AuditRecord {
  v: number;
  /** From 1, without gaps. */
  seq: number;
  /** Milliseconds since 1970. */
  ts: number;
  kind: AuditKind;
  /** Hash of the record before. */
  prev: string;
  /** What happened; plain JSON, no secret in clear. */
  data: Record<string, unknown>;
  /** SHA-256, hex, of all other fields in canonical JSON. */
  hash: string;
}

/** A record chained to `prev`, and its line. */
export function sealRecord(
  fields: Omit<AuditRecord, "v" | "hash">,
): { record: AuditRecord; line: string } {
  const body = { v: AUDIT_VERSION, ...fields };
  const record = { ...body, hash: sha256Hex(canonicalJson(body)) };
  return { record, line: canonicalJson(record) + "\n" };
}

/** A line's record if it is a whole one whose hash is right; else why not. */
export function parseRecord(line: string): AuditRecord | { damage: "unreadable" | "edited" } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { damage: "unreadable" };
  }
  if (!isRecord(value)) return { damage: "unreadable" };
  const { hash, ...body } = value;
  return sha256Hex(canonicalJson(body)) === hash ? value : { damage: "edited" };
}

function isRecord(value: unknown): value is AuditRecord {
  if (typeof value !== "object" || value === null) return false;
  const record = value as Record<string, unknown>;
  return typeof record.v === "number" && Number.isInteger(record.seq) &&
    typeof record.ts === "number" && typeof record.kind === "string" &&
    typeof record.prev === "string" && typeof record.hash === "string" &&
    typeof record.data === "object" && record.data !== null;
}
