/**
 * An automation on record, and the runs that it has.
 *
 * @module
 */

import type { AutomationRecord } from "../contract/automation_record.ts";
import type { Automation } from "../contract/automation.ts";
import { nextSlot } from "./next_slot.ts";

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
