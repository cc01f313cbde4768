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

import { Cron, CronPattern } from "croner";
import type { SlotSeries } from "./slot_series.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Longest pattern, characters. */
export const MAX_CRON_CHARS = 200;

/** What a pattern has to look like, for messages. */
export const CRON_FORM =
  'five fields, minute hour day month weekday, such as "30 8 * * MON-FRI" (nothing is due more ' +
  "often than each minute)";

/** {@linkcode SlotSeries} of a pattern in a zone. Throws a TypeError for what is no {@linkcode CRON_FORM}. */
export class CronSeries implements SlotSeries {
  readonly #slots: Cron;
  /** The same for local times, written as the instants at which a clock in UTC would show them. */
  readonly #local: Cron;
  readonly #localDays: Cron;
  /** Minutes of an hour and hours of a day that the pattern means. */
  readonly #minutes: readonly number[];
  readonly #hours: readonly number[];
  readonly #timeZone: string;

  constructor(pattern: string, timeZone: string) {
    this.#timeZone = timeZone;
    try {
      const fields = pattern.trim().split(/\s+/);
      if (pattern.length > MAX_CRON_CHARS || fields.length !== 5) {
        throw new TypeError("not 5 fields");
      }
      const { minute, hour } = new CronPattern(fields.join(" "), timeZone, { mode: "5-part" });
      this.#minutes = indices(minute);
      this.#hours = indices(hour);
      // croner goes by the clock where hours and minutes are lists, and by elapsed time at a star.
      const hours = this.#everyHour ? "*" : this.#hours.join(",");
      const days = fields.slice(2).join(" ");
      this.#slots = cron(`${this.#minutes.join(",")} ${hours} ${days}`, timeZone);
      this.#local = cron(fields.join(" "), "UTC");
      this.#localDays = cron(`* * ${days}`, "UTC");
    } catch (cause) {
      const start = JSON.stringify(pattern.slice(0, 60));
      throw new TypeError(`${start} is not ${CRON_FORM}`, { cause });
    }
  }

  next(afterMs: number): number | undefined {
    const next = this.#slots.nextRun(new Date(afterMs))?.getTime();
    if (next === undefined) return undefined;
    for (let at = this.#change(afterMs, "next"); at < next; at = this.#change(at, "next")) {
      if (this.#endsGap(at)) return at;
    }
    return next;
  }

  newest({ afterExclusive, untilInclusive, max }: {
    afterExclusive: number;
    untilInclusive: number;
    max: number;
  }): number[] {
    const found: number[] = [];
    let end = untilInclusive + 1;
    while (found.length < max) {
      const previous = this.#slots.previousRuns(1, new Date(end))[0]?.getTime() ?? -Infinity;
      const slot = this.#gapEnd(Math.max(previous, afterExclusive), end) ?? previous;
      if (slot <= afterExclusive) break;
      found.push(slot);
      end = slot;
    }
    return found.reverse();
  }

  /** Steps over days, over hours, and from slot to slot only around a change of the offset. */
  count(afterExclusive: number, untilInclusive: number): number {
    const endMs = Math.floor(untilInclusive) + 1;
    let count = 0;
    let at = Math.floor(afterExclusive) + 1;
    while (at < endMs) {
      const local = at + this.#offsetMs(at);
      const step = [DAY_MS, HOUR_MS].find((ms) =>
        local % ms === 0 && at + ms <= endMs &&
        // For hours after clocks were set back, local times may be there for the second time.
        this.#offsetMs(at - 3 * HOUR_MS) === this.#offsetMs(at + ms)
      );
      const next = at + (step ?? Math.min(HOUR_MS - local % HOUR_MS, endMs - at));
      if (step === undefined) {
        let slot = this.next(at - 1);
        for (; slot !== undefined && slot < next; slot = this.next(slot)) count += 1;
      } else if (this.#localDays.match(new Date(local))) {
        const isMeant = (hour: number) => step === DAY_MS || hour === local % DAY_MS / HOUR_MS;
        count += this.#hours.filter(isMeant).length * this.#minutes.length;
      }
      at = next;
    }
    return count;
  }

  /** The last instant between two others at which clocks jump over a time that is meant. */
  #gapEnd(after: number, before: number): number | undefined {
    let at = this.#change(before, "previous");
    while (at > after && !this.#endsGap(at)) at = this.#change(at, "previous");
    return at > after ? at : undefined;
  }

  /**
   * Whether clocks that are set forward at an instant jump over a time that is meant. croner brings
   * those, but not where the gap ends a day (Nuuk) or is one (Samoa in 2011).
   */
  #endsGap(at: number): boolean {
    if (this.#everyHour) return false;
    const first = this.#local.nextRun(new Date(at + this.#offsetMs(at - 1) - 1));
    return first !== null && first.getTime() < at + this.#offsetMs(at);
  }

  get #everyHour(): boolean {
    return this.#hours.length === 24;
  }

  #offsetMs(atMs: number): number {
    return this.#inZone(atMs).offsetNanoseconds / 1e6;
  }

  /** Where the offset changes, before or after an instant; infinitely far away where it does not. */
  #change(atMs: number, direction: "next" | "previous"): number {
    return this.#inZone(atMs).getTimeZoneTransition(direction)?.epochMilliseconds ??
      (direction === "next" ? Infinity : -Infinity);
  }

  #inZone(atMs: number): Temporal.ZonedDateTime {
    return Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(this.#timeZone);
  }
}

/** Paused and without a callback: croner then sets no timer. */
function cron(pattern: string, timezone: string): Cron {
  return new Cron(pattern, {
    timezone,
    mode: "5-part",
    paused: true,
    fixedTimeRule: "no-wildcard",
  });
}

/** Which values of a field a pattern means. */
function indices(field: readonly number[]): number[] {
  return field.flatMap((isMeant, value) => isMeant ? [value] : []);
}
