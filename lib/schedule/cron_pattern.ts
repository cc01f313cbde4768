/**
 * A cron pattern over local times: five fields, as croner reads them. Local times are written as the
 * instants at which a clock in UTC would show them, so that no zone plays a part here.
 *
 * @module
 */

import { Cron } from "croner";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Longest pattern, characters. */
export const MAX_CRON_CHARS = 200;

/** What a pattern has to look like, for messages. */
export const CRON_FORM =
  'five fields, minute hour day month weekday, such as "30 8 * * MON-FRI" (nothing is due more ' +
  "often than each minute)";

/** Which local times a pattern means. Throws a TypeError for what is no {@linkcode CRON_FORM}. */
export class CronPattern {
  readonly #times: Cron;
  readonly #days: Cron;
  /** Minutes of an hour and hours of a day that it means; they do not depend on the day. */
  readonly #minutes: readonly number[];
  readonly #hours: readonly number[];

  constructor(pattern: string) {
    const fields = pattern.length > MAX_CRON_CHARS ? [] : pattern.trim().split(/\s+/);
    if (fields.length !== 5) throw noPattern(pattern);
    const [minute, hour, ...day] = fields;
    try {
      this.#times = inUtc(fields.join(" "));
      this.#days = inUtc(["0", "0", ...day].join(" "));
      this.#minutes = matchesOf(inUtc(`${minute} * * * *`), MINUTE_MS, 60);
      this.#hours = matchesOf(inUtc(`0 ${hour} * * *`), HOUR_MS, 24);
    } catch (error) {
      throw noPattern(pattern, error);
    }
  }

  /** Whether it means every hour of a day, so that it goes by elapsed time and not by the clock. */
  get everyHour(): boolean {
    return this.#hours.length === 24;
  }

  /** The first local time that is not before this one; undefined when none ever comes. */
  from(localMs: number): number | undefined {
    const reference = new Date(Math.ceil(localMs / MINUTE_MS) * MINUTE_MS - 1_000);
    return this.#times.nextRun(reference)?.getTime();
  }

  /** The last local time that is not after this one. */
  upTo(localMs: number): number | undefined {
    const reference = new Date(Math.floor(localMs / MINUTE_MS) * MINUTE_MS + 1_000);
    return this.#times.previousRuns(1, reference)[0]?.getTime();
  }

  /**
   * How many local times stand in `fromMs <= time < endMs`. Costs one step a day, however many
   * there are in a day.
   */
  count(fromMs: number, endMs: number): number {
    let count = 0;
    let day = this.#dayFrom(Math.floor(fromMs / DAY_MS) * DAY_MS);
    while (day !== undefined && day < endMs) {
      count += this.#countOfDay(endMs - day) - this.#countOfDay(fromMs - day);
      day = this.#dayFrom(day + DAY_MS);
    }
    return count;
  }

  #dayFrom(localMs: number): number | undefined {
    return this.#days.nextRun(new Date(localMs - 1_000))?.getTime();
  }

  /** Local times of a day that come before this much of it is over. */
  #countOfDay(ms: number): number {
    if (ms <= 0) return 0;
    if (ms >= DAY_MS) return this.#hours.length * this.#minutes.length;
    const hour = Math.floor(ms / HOUR_MS);
    const whole = this.#hours.filter((each) => each < hour).length * this.#minutes.length;
    if (!this.#hours.includes(hour)) return whole;
    return whole + this.#minutes.filter((each) => each * MINUTE_MS < ms - hour * HOUR_MS).length;
  }
}

function noPattern(pattern: string, cause?: unknown): TypeError {
  return new TypeError(`${JSON.stringify(pattern.slice(0, 60))} is not ${CRON_FORM}`, { cause });
}

/** Paused and without a callback: croner then sets no timer. */
function inUtc(pattern: string): Cron {
  return new Cron(pattern, { timezone: "UTC", mode: "5-part", paused: true });
}

/** Which of the first `count` units of a day match. */
function matchesOf(cron: Cron, unitMs: number, count: number): number[] {
  const found: number[] = [];
  let next = cron.nextRun(new Date(-1_000));
  while (next !== null && next.getTime() < count * unitMs) {
    found.push(next.getTime() / unitMs);
    next = cron.nextRun(next);
  }
  return found;
}
