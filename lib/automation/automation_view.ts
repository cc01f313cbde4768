/**
 * Automations and runs as people are shown them. Instants are milliseconds since 1970.
 *
 * @module
 */

import type { AutomationRun } from "../contract/automation_record.ts";
import type { Automation } from "../contract/automation.ts";

/** A run. */
export interface RunView {
  /** Cursor of a history. */
  id: number;
  automationId: string;
  /** Absent for a run that somebody asked for. */
  slotAt?: number;
  claimedAt: number;
  state: AutomationRun["state"];
  /** Attempts that were begun. */
  attempts: number;
  /** When one that waits may begin. */
  notBefore?: number;
  turnId?: string;
  endedAt?: number;
  /** Why the newest attempt failed. */
  error?: string;
  /** What it came to, for one that is done; the beginning of a long one. */
  answer?: string;
}

/** An automation with its state. */
export interface AutomationView {
  id: string;
  /** As it was written, with its defaults. */
  spec: Automation;
  /** Changes with everything that decides what runs; see `automationDigest`. */
  digest: string;
  /** Rises with each change. */
  revision: number;
  createdAt: number;
  /** Absent when none comes any more, or while it is off. */
  nextAt?: number;
  missed: number;
  overlapped: number;
  lastRun?: RunView;
  /** What people should know, such as a channel that is not running. */
  warnings: string[];
}

/** The run of a row. */
export function toRunView(run: AutomationRun, answer?: string): RunView {
  const { rowid, automationId, slotAt, claimedAt, state, attempts, notBefore } = run;
  const { turnId, endedAt, error } = run;
  return {
    id: rowid,
    automationId,
    ...slotAt !== undefined && { slotAt },
    claimedAt,
    state,
    attempts,
    ...state === "waiting" && { notBefore },
    ...turnId !== undefined && { turnId },
    ...endedAt !== undefined && { endedAt },
    ...error !== undefined && { error },
    ...answer !== undefined && { answer },
  };
}
