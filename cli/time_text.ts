import type { Output } from "./output.ts";

const UNITS_MS = [["day", 86_400_000], ["h", 3_600_000], ["min", 60_000], ["s", 1_000]] as const;

/** Further away than this, a date tells more. */
const FAR_MS = 30 * 86_400_000;

/**
 * A time (ms since 1970) for a listing: relative on a terminal, ISO 8601 to the second in UTC
 * elsewhere, a dash when there is none.
 */
export function timeText(out: Output, ms: number | undefined, now: number = Date.now()): string {
  if (ms === undefined) return "-";
  return out.isTerminal ? relativeTime(ms, now) : isoSeconds(ms);
}

/** `3 min ago`, `in 2 h`, or the day if it is more than 30 days away. */
export function relativeTime(ms: number, now: number): string {
  const distance = Math.abs(ms - now);
  if (distance > FAR_MS) return isoSeconds(ms).slice(0, 10);
  const unit = UNITS_MS.find(([, unitMs]) => distance >= unitMs);
  if (unit === undefined) return "now";
  const [name, unitMs] = unit;
  const count = Math.floor(distance / unitMs);
  const text = `${count} ${name === "day" && count > 1 ? "days" : name}`;
  return ms < now ? `${text} ago` : `in ${text}`;
}

/** ISO 8601 to the second, UTC. */
export function isoSeconds(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
