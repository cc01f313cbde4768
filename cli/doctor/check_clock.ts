/**
 * Whether the clock can be right.
 *
 * @module
 */

import {
  CLOCK_FIX,
  CLOCK_TOLERANCE_MS,
  findClockFault,
  minutes,
} from "../../lib/base/clock_fault.ts";
import type { Finding } from "./check.ts";

/** Holds it against what this home wrote last; `files` may be missing. */
export async function checkClock(files: readonly string[], now: number): Promise<Finding> {
  const fault = await findClockFault(files, now);
  if (fault === undefined) {
    return { status: "ok", detail: new Date(now).toISOString().replace(/\.\d+Z$/, "Z") };
  }
  return { status: fault.isCertain ? "fail" : "warn", detail: fault.detail, fix: CLOCK_FIX };
}

/** Holds it against a server's header Date. */
export function compareClock(date: string | null, now: number): Finding | undefined {
  const apart = now - Date.parse(date ?? "");
  if (Number.isNaN(apart) || Math.abs(apart) < CLOCK_TOLERANCE_MS) return undefined;
  const detail = `the clock is ${minutes(Math.abs(apart))} ${apart > 0 ? "ahead" : "behind"} ` +
    "of the provider's";
  return { status: "warn", detail, fix: CLOCK_FIX };
}
