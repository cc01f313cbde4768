/**
 * Whether the clock can be right: automations, tokens and certificates go by it.
 *
 * @module
 */

/** What is wrong with it. */
export interface ClockFault {
  /** Such as `the clock says 1970-01-01T00:00:00Z`. */
  detail: string;
  /** No clock that is right says so. */
  isCertain: boolean;
}

/** This program is younger. */
const EARLIEST_MS = Date.parse("2026-01-01T00:00:00Z");

/** How far clocks may differ, ms. */
export const CLOCK_TOLERANCE_MS = 5 * 60_000;

/** What to do about it. */
export const CLOCK_FIX = "Set the clock, for example with: timedatectl set-ntp true";

/** Holds it against what was written last; `files` may be missing. Undefined: nothing is known to be wrong. */
export async function findClockFault(
  files: readonly string[],
  now: number,
): Promise<ClockFault | undefined> {
  const shown = new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
  if (now < EARLIEST_MS) return { detail: `the clock says ${shown}`, isCertain: true };
  for (const file of files) {
    const { mtime } = await Deno.stat(file).catch(() => ({ mtime: null }));
    const ahead = (mtime?.getTime() ?? 0) - now;
    if (ahead < CLOCK_TOLERANCE_MS) continue;
    const detail = `the clock is ${
      minutes(ahead)
    } behind: ${file} was written later than now (${shown})`;
    return { detail, isCertain: false };
  }
  return undefined;
}

/** A time in minutes, or in hours where that are many. */
export function minutes(ms: number): string {
  const count = Math.round(ms / 60_000);
  return count < 120 ? `${count} min` : `${Math.round(count / 60)} h`;
}
