/**
 * The instants that a cron pattern means in a zone, over the changes of its offset.
 *
 * A pattern that names hours goes by the clock on the wall: a local time that does not exist comes at
 * the next instant that does (once, however many fall into the gap), one that exists twice comes at
 * the first of the two. A pattern of every hour goes by elapsed time: `*\/15 * * * *` comes each
 * quarter of an hour, when clocks are set back too.
 *
 * @module
 */

import { CronPattern } from "./cron_pattern.ts";
import type { SlotSeries } from "./slot_series.ts";
import { type ZoneStretch, zoneStretch } from "./zone_stretch.ts";

/** {@linkcode SlotSeries} of a pattern in a zone. Throws a TypeError for what is no pattern. */
export class CronSeries implements SlotSeries {
  readonly #pattern: CronPattern;
  readonly #timeZone: string;
  #last: ZoneStretch | undefined;

  constructor(pattern: string, timeZone: string) {
    this.#pattern = new CronPattern(pattern);
    this.#timeZone = timeZone;
  }

  next(afterMs: number): number | undefined {
    let from = Math.floor(afterMs) + 1;
    while (true) {
      const stretch = this.#stretch(from);
      if (from === stretch.start && this.#comesLate(stretch)) return from;
      const local = this.#pattern.from(Math.max(from + stretch.offsetMs, this.#floor(stretch)));
      if (local === undefined) return undefined;
      if (local < stretch.end + stretch.offsetMs) return local - stretch.offsetMs;
      from = stretch.end;
    }
  }

  newest({ afterExclusive, untilInclusive, max }: {
    afterExclusive: number;
    untilInclusive: number;
    max: number;
  }): number[] {
    const found: number[] = [];
    let until: number | undefined = untilInclusive;
    while (found.length < max) {
      until = this.#upTo(until, afterExclusive);
      if (until === undefined) break;
      found.push(until);
      until -= 1;
    }
    return found.reverse();
  }

  count(afterExclusive: number, untilInclusive: number): number {
    let count = 0;
    let from = Math.floor(afterExclusive) + 1;
    const end = Math.floor(untilInclusive) + 1;
    while (from < end) {
      const stretch = this.#stretch(from);
      const { offsetMs } = stretch;
      const localFrom = Math.max(from + offsetMs, this.#floor(stretch));
      const localEnd = Math.min(end, stretch.end) + offsetMs;
      if (localFrom < localEnd) count += this.#pattern.count(localFrom, localEnd);
      // At the instant itself only when no local time of its own stands there.
      if (from === stretch.start && this.#comesLate(stretch)) {
        if (this.#pattern.from(from + offsetMs) !== from + offsetMs) count += 1;
      }
      from = stretch.end;
    }
    return count;
  }

  /** The last slot in `(afterMs, atMs]`. */
  #upTo(atMs: number, afterMs: number): number | undefined {
    let until = Math.floor(atMs);
    while (until > afterMs) {
      const stretch = this.#stretch(until);
      const local = this.#pattern.upTo(until + stretch.offsetMs);
      if (local !== undefined && local >= this.#floor(stretch)) {
        const slot = local - stretch.offsetMs;
        return slot > afterMs ? slot : undefined;
      }
      if (this.#comesLate(stretch)) return stretch.start > afterMs ? stretch.start : undefined;
      until = stretch.start - 1;
    }
    return undefined;
  }

  /** Whether a local time was left out when clocks were set forward at the stretch's start. */
  #comesLate({ start, offsetMs, priorOffsetMs }: ZoneStretch): boolean {
    if (this.#pattern.everyHour || offsetMs <= priorOffsetMs) return false;
    const local = this.#pattern.from(start + priorOffsetMs);
    return local !== undefined && local < start + offsetMs;
  }

  /** The first local time of a stretch that has not come before; clocks may have been set back. */
  #floor({ start, offsetMs, priorOffsetMs }: ZoneStretch): number {
    return start + (this.#pattern.everyHour ? offsetMs : Math.max(offsetMs, priorOffsetMs));
  }

  #stretch(atMs: number): ZoneStretch {
    const last = this.#last;
    if (last !== undefined && last.start <= atMs && atMs < last.end) return last;
    return this.#last = zoneStretch(this.#timeZone, atMs);
  }
}
