/**
 * The slots of a schedule as a list, to hold against what was made of them.
 *
 * @module
 */

import type { Schedule } from "../../contract/automation.ts";
import { nextSlot } from "../../schedule/next_slot.ts";

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
  const slots: number[] = [];
  let next = nextSlot(schedule, { createdAt, afterExclusive });
  while (next !== undefined && next <= untilInclusive && slots.length < max) {
    slots.push(next);
    next = nextSlot(schedule, { createdAt, afterExclusive: next });
  }
  return slots;
}
