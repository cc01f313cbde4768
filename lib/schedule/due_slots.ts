/**
 * What of a schedule runs now and what has been missed, by the automation's policy.
 *
 * @module
 */

import type { Automation } from "../contract/automation.ts";
import { slotSeries } from "./slot_series.ts";

/** A slot that is noticed less late is on time: timers and busy processes are never exact. */
export const ON_TIME_MS = 60_000;

/** Slots that the policy `all` makes up for at once; older ones are dropped and counted. */
export const MAX_MADE_UP = 100;

/** Where an automation stands. Instants are milliseconds since 1970. */
export interface SlotState {
  spec: Pick<Automation, "schedule" | "missed">;
  createdAt: number;
  /** Every slot up to it, itself included, is settled: claimed or counted. */
  cursor: number;
}

/** What {@linkcode dueSlots} decided. Each slot between the old and the new cursor is in it once. */
export interface DueSlots {
  /** Slots to run, oldest first, 100 at most. */
  run: number[];
  /** How many were left out. */
  missed: number;
  /** The newest slot that is settled by this. */
  cursor: number;
  /** The first slot after now and the cursor; undefined when none comes any more. */
  nextAt?: number;
}

/**
 * Applies the policy to what came due since the cursor. `skip` runs the newest slot if it is
 * on time, `once` (the default) the newest in any case, `all` the newest 100.
 */
export function dueSlots({ spec, createdAt, cursor }: SlotState, now: number): DueSlots {
  const series = slotSeries(spec.schedule, createdAt);
  const newest = series.newest({
    afterExclusive: cursor,
    untilInclusive: now,
    max: spec.missed === "all" ? MAX_MADE_UP : 1,
  });
  const last = newest.at(-1);
  // A clock that was set back stands before the cursor.
  const nextAt = series.next(Math.max(now, cursor));
  if (last === undefined) return { run: [], missed: 0, cursor, nextAt };
  const onTime = now - last < ON_TIME_MS;
  const run = spec.missed === "skip" && !onTime ? [] : newest;
  return {
    run,
    missed: series.count(cursor, last) - run.length,
    cursor: last,
    nextAt,
  };
}
