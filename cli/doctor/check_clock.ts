/**
 * Whether the clock can be right: automations, tokens and certificates go by it.
 *
 * @module
 */

import type { Finding } from "./check.ts";

/** This program is younger. */
const EARLIEST_MS = Date.parse("2026-01-01T00:00:00Z");

/** How far clocks may differ, ms. */
export const CLOCK_TOLERANCE_MS = 5 * 60_000;

const FIX = "Set the clock, for example with: timedatectl set-ntp true";

/** Holds it against what this home wrote last; `files` may be missing. */
export async function checkClock(files: readonly string[], now: number): Promise<Finding> {
  const shown = new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
  if (now < EARLIEST_MS) return { status: "fail", detail: `the clock says ${shown}`, fix: FIX };
  for (const file of files) {
    const { mtime } = await Deno.stat(file).catch(() => ({ mtime: null }));
    const ahead = (mtime?.getTime() ?? 0) - now;
    if (ahead < CLOCK_TOLERANCE_MS) continue;
    return {
      status: "warn",
      detail: `the clock is ${
        minutes(ahead)
      } behind: ${file} was written later than now (${shown})`,
      fix: FIX,
    };
  }
  return { status: "ok", detail: shown };
}

/** Holds it against a server's header Date. */
export function compareClock(date: string | null, now: number): Finding | undefined {
  const apart = now - Date.parse(date ?? "");
  if (Number.isNaN(apart) || Math.abs(apart) < CLOCK_TOLERANCE_MS) return undefined;
  const detail = `the clock is ${minutes(Math.abs(apart))} ${apart > 0 ? "ahead" : "behind"} ` +
    "of the provider's";
  return { status: "warn", detail, fix: FIX };
}

function minutes(ms: number): string {
  const count = Math.round(ms / 60_000);
  return count < 120 ? `${count} min` : `${Math.round(count / 60)} h`;
}
