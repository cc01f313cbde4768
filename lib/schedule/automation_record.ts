/**
 * An automation on record, and the runs that it has.
 *
 * @module
 */

import type { RequestKey } from "../contract/journal.ts";
import type { Automation } from "../contract/automation.ts";
import { nextSlot } from "./next_slot.ts";

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

/**
 * A run that waited longer is not begun any more: the journal keeps keys for 8 days, so that until
 * then a try that a crash cut off is recognised.
 */
export const MAX_WAIT_MS = 7 * 24 * 60 * 60 * 1_000;

/** How far the clock may stand before what is settled until slots are taken up from now again. */
export const MAX_AHEAD_MS = 60 * 60 * 1_000;

/** Runs of one automation that wait at once; older ones make room and are counted as missed. */
export const MAX_WAITING = 100;

/** Ended runs that are kept for each automation. */
export const MAX_HISTORY = 200;

/** Automations on record at once. */
export const MAX_AUTOMATIONS = 1_000;

/** The record of a new automation; nothing of before `now` is due. */
export function newAutomation(id: string, spec: Automation, now: number): AutomationRecord {
  const record = { id, spec, createdAt: now, revision: 1, cursor: now, missed: 0, overlapped: 0 };
  return { ...record, nextAt: nextAtOf(record) };
}

/**
 * The record after a change. When the schedule is another, or it is switched on or off, what was due
 * before `now` no longer is: nobody waits for slots of a time in which it was off.
 */
export function changedAutomation(
  record: AutomationRecord,
  spec: Automation,
  now: number,
): AutomationRecord {
  const { schedule, enabled } = record.spec;
  const same = enabled === spec.enabled &&
    (["at", "every", "cron", "timeZone"] as const).every((key) =>
      schedule[key] === spec.schedule[key]
    );
  const changed = {
    ...record,
    spec,
    revision: record.revision + 1,
    // One of a future that was set back would otherwise have its first slot as far away; nothing
    // rewinds it once its cursor is here.
    ...!same && { createdAt: Math.min(record.createdAt, now), cursor: now },
  };
  return { ...changed, nextAt: nextAtOf(changed) };
}

/**
 * The record of an automation whose cursor stands in a future that has been set back. One that was
 * created in that future counts from now: its first slot is not to be as far away.
 */
export function rewoundAutomation(record: AutomationRecord, now: number): AutomationRecord {
  const createdAt = Math.min(record.createdAt, now);
  const rewound = { ...record, createdAt, revision: record.revision + 1, cursor: now };
  return { ...rewound, nextAt: nextAtOf(rewound) };
}

function nextAtOf(
  { spec, createdAt, cursor }: Pick<AutomationRecord, "spec" | "createdAt" | "cursor">,
): number | undefined {
  return spec.enabled ? nextSlot(spec.schedule, { createdAt, afterExclusive: cursor }) : undefined;
}
