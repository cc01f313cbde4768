/**
 * An automation as it is stored, and its runs.
 *
 * @module
 */

import type { Automation } from "./automation.ts";
import type { RequestKey } from "./journal.ts";

/** An automation on record. Instants are milliseconds since 1970. */
export interface AutomationRecord {
  id: string;
  spec: Automation;
  /** What `every` counts from. */
  createdAt: number;
  /** Rises with each change of `spec`; who changes or claims has to know the newest. */
  revision: number;
  /** Every slot up to it is settled: claimed or counted. */
  cursor: number;
  /** The slot that comes next; undefined when none comes any more, or while it is switched off. */
  nextAt?: number;
  /** Slots that passed and were left out, by the policy or because too many waited. */
  missed: number;
  /** Slots that were left out because an earlier run went on. */
  overlapped: number;
  /** Of the last result; see {@linkcode deliveryDecision}. */
  resultDigest?: string;
}

/** How a run ended. */
export type RunEnd =
  /** Its turn answered. */
  | "done"
  /** Its last attempt failed, or was cancelled. */
  | "failed"
  /** It waited for more than {@linkcode MAX_WAIT_MS} and was not begun. */
  | "expired"
  /** The automation was switched off while it waited. */
  | "dropped";

/** A run. Its key is unique for ever among the runs that a store keeps. */
export interface AutomationRun {
  /** Place in the order in which runs were claimed; the cursor of a history. */
  rowid: number;
  automationId: string;
  key: RequestKey;
  /** The slot, or undefined for a run that somebody asked for. */
  slotAt?: number;
  /** When it was claimed. */
  claimedAt: number;
  state: "waiting" | "running" | RunEnd;
  /** Attempts that were begun, written before each. */
  attempts: number;
  /** Not begun before this. */
  notBefore: number;
  /** Turn of the newest attempt, once the journal has accepted it. */
  turnId?: string;
  endedAt?: number;
  /** Why the newest attempt failed. */
  error?: string;
}
