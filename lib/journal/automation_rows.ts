import type { AutomationRecord, AutomationRun } from "../contract/automation_record.ts";

/** Columns of an automation, in the order of {@linkcode AutomationRow}. */
export const AUTOMATION_COLUMNS =
  "id, spec, created_at, revision, cursor, next_at, missed, overlapped, result_digest";

/** A row of `automations`. */
type AutomationRow = [
  id: string,
  spec: string,
  createdAt: number,
  revision: number,
  cursor: number,
  nextAt: number | null,
  missed: number,
  overlapped: number,
  resultDigest: string | null,
];

/** The record of a row. */
export function toRecord(
  [id, spec, createdAt, revision, cursor, nextAt, missed, overlapped, resultDigest]: AutomationRow,
): AutomationRecord {
  return {
    id,
    spec: JSON.parse(spec),
    createdAt,
    revision,
    cursor,
    ...nextAt !== null && { nextAt },
    missed,
    overlapped,
    ...resultDigest !== null && { resultDigest },
  };
}

/** Columns of a run, in the order of {@linkcode RunRow}. */
export const RUN_COLUMNS =
  "run, automation_id, scope, key, digest, slot_at, claimed_at, state, attempts, not_before, turn_id, " +
  "ended_at, error";

/** A row of `automation_runs`. */
type RunRow = [
  run: number,
  automationId: string,
  scope: string,
  key: string,
  digest: string,
  slotAt: number | null,
  claimedAt: number,
  state: AutomationRun["state"],
  attempts: number,
  notBefore: number,
  turnId: string | null,
  endedAt: number | null,
  error: string | null,
];

/** The run of a row. */
export function toRun(row: RunRow): AutomationRun {
  const [rowid, automationId, scope, key, digest, slotAt, claimedAt, state, attempts, notBefore] =
    row;
  const [turnId, endedAt, error] = row.slice(10) as [string | null, number | null, string | null];
  return {
    rowid,
    automationId,
    key: { scope, key, digest },
    ...slotAt !== null && { slotAt },
    claimedAt,
    state,
    attempts,
    notBefore,
    ...turnId !== null && { turnId },
    ...endedAt !== null && { endedAt },
    ...error !== null && { error },
  };
}
