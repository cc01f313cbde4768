/**
 * A line of the audit: what it holds, and how it is chained to the one before.
 *
 * @module
 */

import { canonicalJson } from "../base/canonical_json.ts";
import { sha256Hex } from "../base/sha256.ts";

/** Version of the format. */
const AUDIT_VERSION = 1;

/** `prev` of the first record. */
export const GENESIS = "0".repeat(64);

/** Bytes of one line; a larger record is a fault of the caller, and a larger line is damage. */
export const MAX_LINE_BYTES = 1024 * 1024;

/** What a record is about. */
export type AuditKind =
  /** A process began to write here. */
  | "log.open"
  /** An unfinished end was set aside. */
  | "log.torn"
  /** There was a record before this file; where it went is not known. */
  | "log.gone"
  /** What a signed checkpoint covers is not here any more, or is another text. */
  | "log.cut"
  /** The hash of the record before, signed. */
  | "log.checkpoint"
  /** The oldest file is about to be removed, as `audit.keepFiles` or `retention.audit` says. */
  | "log.pruned"
  /** Data is about to be removed for its age or its size, as `retention` says: which, and who asked. */
  | "retention.removed"
  /** This home was restored from a backup: `found` is the last record that the backup holds. */
  | "home.restored"
  /** An action was not allowed. */
  | "action.refused"
  /** An action is about to run. Without its `action.end` nobody knows how it ended. */
  | "action.start"
  /** How an action ended; `start` is the number of its record. */
  | "action.end"
  /** A sandboxed program asked for a host, for the first time: reached from here on, or refused. */
  | "network.host"
  /** An action waits for a person. */
  | "approval.requested"
  /** Somebody who may approved or denied it; `by` says who. */
  | "approval.answered"
  /** It does not count any more: its requester left, its turn ended, or the service started anew. */
  | "approval.void"
  /** Nobody answered in time. */
  | "approval.expired"
  /** An answer that was not let through: by whom, and why. */
  | "approval.refused"
  /** A denial made a capability refused in a session. */
  | "latch.set"
  /** An operator lifted that. */
  | "latch.cleared"
  /** An operator made a standing grant. */
  | "grant.added"
  /** A standing grant was taken back. */
  | "grant.removed"
  /** An automation is about to be rehearsed: nothing that it asks for runs. */
  | "commission.started"
  /** A dry run has ended; `grants` says how many it would take. */
  | "commission.finished"
  /** An operator set a secret: its name and scope, never the value. */
  | "secret.set"
  /** An operator removed a secret. */
  | "secret.removed"
  /** An operator is about to change the configuration: which keys, never the values. */
  | "settings.change"
  /** The file could not be written; `start` is the number of the change's record. */
  | "settings.failed"
  /** The configuration file was read again because somebody asked: keys in force, keys that wait, or why not. */
  | "settings.reloaded"
  /** Somebody has the service start again. */
  | "service.restart"
  /** A person is about to let the agent work in a folder besides the workspace. */
  | "project.allowed"
  /** Everything of the home was written to a file, keys too; `file` is null for standard output. */
  | "backup.written"
  /** A credential was made: its number, scopes and owner, never the secret. */
  | "token.issued"
  /** A credential was taken back. */
  | "token.revoked"
  /** A damaged file of the operators' state was set aside, and an empty one took its place. */
  | "state.reset"
  /** The rules in force from here on, by their digest. */
  | "policy.loaded"
  /** An MCP server is about to be started or connected to. */
  | "mcp.start"
  /** It has ended; `start` is the number of its record. */
  | "mcp.end"
  /** It may not be connected to: its host leads to an address that is not public. */
  | "mcp.refused"
  /** An MCP server offers other tools than before, or describes some of them otherwise. */
  | "mcp.tools_changed"
  /** What the sandbox's own test found at a start. */
  | "sandbox.tested";

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

/** A record for programs: `ts` in seconds since 1970, to the millisecond, and no chain. */
export function recordToWire({ seq, ts, kind, data, hash }: AuditRecord) {
  return { seq, ts: ts / 1_000, kind, data, hash };
}

/** A line's record if it is a whole one whose hash is right; else why not. `newer`: of a later format. */
export function parseRecord(
  line: string,
): AuditRecord | { damage: "unreadable" | "edited" | "newer" } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { damage: "unreadable" };
  }
  if (!isRecord(value)) return { damage: "unreadable" };
  if (value.v > AUDIT_VERSION) return { damage: "newer" };
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
