/**
 * When an automation is due: the instants of its schedule, in order, without end.
 *
 * @module
 */

import type { Schedule } from "../contract/automation.ts";
import { CronSeries } from "./cron_series.ts";

/** Instants in milliseconds since 1970. No step's cost grows with how many instants lie between. */
export interface SlotSeries {
  /** The first after an instant; undefined when there is none any more. */
  next(afterMs: number): number | undefined;
  /** The last `max` of a range, oldest first. */
  newest(
    range: { afterExclusive: number; untilInclusive: number; max: number },
  ): number[];
  /** How many are in `(afterExclusive, untilInclusive]`. */
  count(afterExclusive: number, untilInclusive: number): number;
}

/**
 * The slots of a schedule that {@linkcode checkAutomation} took. `every` counts from `createdAt`
 * (milliseconds since 1970), the first slot one period later.
 */
export function slotSeries(schedule: Schedule, createdAt: number): SlotSeries {
  if (schedule.at !== undefined) return new OneSlot(Date.parse(schedule.at));
  if (schedule.every !== undefined) return new EverySeries(createdAt, schedule.every * 1_000);
  return new CronSeries(schedule.cron!, schedule.timeZone!);
}

class OneSlot implements SlotSeries {
  readonly #atMs: number;

  constructor(atMs: number) {
    this.#atMs = atMs;
  }

  next(afterMs: number): number | undefined {
    return this.#atMs > afterMs ? this.#atMs : undefined;
  }

  newest({ afterExclusive, untilInclusive, max }: Parameters<SlotSeries["newest"]>[0]): number[] {
    return max > 0 && this.count(afterExclusive, untilInclusive) > 0 ? [this.#atMs] : [];
  }

  count(afterExclusive: number, untilInclusive: number): number {
    return this.#atMs > afterExclusive && this.#atMs <= untilInclusive ? 1 : 0;
  }
}

class EverySeries implements SlotSeries {
  readonly #originMs: number;
  readonly #periodMs: number;

  constructor(originMs: number, periodMs: number) {
    this.#originMs = originMs;
    this.#periodMs = periodMs;
  }

  next(afterMs: number): number {
    return this.#slot(this.#numberAt(afterMs) + 1);
  }

  newest({ afterExclusive, untilInclusive, max }: Parameters<SlotSeries["newest"]>[0]): number[] {
    const last = this.#numberAt(untilInclusive);
    const length = Math.max(0, Math.min(max, last - this.#numberAt(afterExclusive)));
    return Array.from({ length }, (_, at) => this.#slot(last - length + 1 + at));
  }

  count(afterExclusive: number, untilInclusive: number): number {
    return Math.max(0, this.#numberAt(untilInclusive) - this.#numberAt(afterExclusive));
  }

  /** Slots that have come by an instant. */
  #numberAt(atMs: number): number {
    return Math.max(0, Math.floor((atMs - this.#originMs) / this.#periodMs));
  }

  #slot(number: number): number {
    return this.#originMs + number * this.#periodMs;
  }
}
