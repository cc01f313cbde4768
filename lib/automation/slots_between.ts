/**
 * The slots of a schedule as a list, for previews and for people.
 *
 * @module
 */

import type { Schedule } from "./automation.ts";
import { slotSeries } from "./slot_series.ts";

/** Part of a schedule. Instants are milliseconds since 1970. */
export interface SlotRange {
  /** When the automation was created: what `every` counts from. */
  createdAt: number;
  afterExclusive: number;
  untilInclusive: number;
  /** At most this many, the oldest of the range. */
  max: number;
}

/** The slots in a range, oldest first. */
export function slotsBetween(
  schedule: Schedule,
  { createdAt, afterExclusive, untilInclusive, max }: SlotRange,
): number[] {
  const series = slotSeries(schedule, createdAt);
  const slots: number[] = [];
  let next = series.next(afterExclusive);
  while (next !== undefined && next <= untilInclusive && slots.length < max) {
    slots.push(next);
    next = series.next(next);
  }
  return slots;
}

/** The first slot after an instant; undefined when the schedule has none any more. */
export function nextSlot(
  schedule: Schedule,
  { createdAt, afterExclusive }: Pick<SlotRange, "createdAt" | "afterExclusive">,
): number | undefined {
  return slotSeries(schedule, createdAt).next(afterExclusive);
}
