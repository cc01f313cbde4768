/**
 * What the audit is told of a change to the operators' state.
 *
 * @module
 */

/** Kinds of such records. */
const OPERATOR_RECORD_KINDS = [
  "token.issued",
  "token.revoked",
  "grant.added",
  "grant.removed",
  "latch.set",
  "latch.cleared",
  "secret.set",
  "secret.removed",
  /** A command changed the configuration: which keys, never the values. */
  "settings.change",
  /** The file could not be written then. */
  "settings.failed",
  /** A person let the agent work in a folder besides the workspace. */
  "project.allowed",
  /** Everything of the home was written to a file, keys too. */
  "backup.written",
  /** A dry run of an automation has ended, and what it found is kept. */
  "commission.finished",
  /** An approval was pending when its service stopped. */
  "approval.void",
  /** A damaged file was set aside, and an empty one took its place. */
  "state.reset",
] as const;

/** One of {@linkcode OPERATOR_RECORD_KINDS}. */
export type OperatorRecordKind = typeof OPERATOR_RECORD_KINDS[number];

/** The audit, as far as this state needs it. */
export interface OperatorAudit {
  append(kind: OperatorRecordKind, data: Record<string, unknown>): Promise<unknown>;
}
