import type { Schedule } from "../contract/automation.ts";
import { slotSeries } from "./slot_series.ts";

/**
 * The first slot after an instant; undefined when the schedule has none any more. Instants are
 * milliseconds since 1970; `every` counts from the automation's creation.
 */
export function nextSlot(
  schedule: Schedule,
  { createdAt, afterExclusive }: { createdAt: number; afterExclusive: number },
): number | undefined {
  return slotSeries(schedule, createdAt).next(afterExclusive);
}
