/**
 * A schedule as a sentence. Patterns that people write are said in words; any other one is shown as it is.
 *
 * @module
 */

import type { Answer } from "../api/client.ts";
import { formatTime, language, t } from "../locale.ts";

/** An automation with its state. */
export type AutomationView = Answer<"automations.list">["automations"][number];

/** When it is due. */
export type Schedule = AutomationView["automation"]["schedule"];

/** Weekdays of a pattern, Sunday first. */
const DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

const UNITS: readonly [unit: "day" | "hour" | "minute", seconds: number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** Such as "On weekdays at 08:30". */
export function scheduleSentence({ at, every, cron, timeZone }: Schedule): string {
  if (at !== undefined) return t.schedule.once(formatTime(Date.parse(at) / 1_000));
  if (every !== undefined) return t.schedule.every(period(every));
  const said = patternWords(cron ?? "") ?? t.schedule.pattern(cron ?? "");
  return timeZone === undefined || timeZone === ownZone() ? said : `${said} (${timeZone})`;
}

/** Zone of this browser. */
export function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Such as "15 minutes", in the largest unit that fits. */
function period(seconds: number): string {
  const [unit, length] = UNITS.find(([, length]) => seconds % length === 0) ?? ["second", 1];
  return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" })
    .format(seconds / length);
}

function patternWords(cron: string): string | undefined {
  const [minute = "", hour = "", day, month, weekday = ""] = cron.trim().split(/\s+/);
  if (month !== "*") return undefined;
  const step = /^\*\/(\d+)$/.exec(minute)?.[1];
  if (step !== undefined && hour === "*" && day === "*" && weekday === "*") {
    return t.schedule.every(period(Number(step) * 60));
  }
  if (!/^\d{1,2}$/.test(minute) || !/^\d{1,2}$/.test(hour)) return undefined;
  const time = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
  if (day !== "*") {
    return weekday === "*" && /^\d{1,2}$/.test(day ?? "")
      ? t.schedule.monthly(day!, time)
      : undefined;
  }
  if (weekday === "*") return t.schedule.daily(time);
  if (/^(MON-FRI|1-5|1,2,3,4,5)$/i.test(weekday)) return t.schedule.weekdays(time);
  const days = weekday.split(",").map(dayOf);
  if (days.includes(undefined)) return undefined;
  const names = new Intl.ListFormat(language).format(days.map((at) => dayName(at!)));
  return t.schedule.onDays(names, time);
}

function dayOf(text: string): number | undefined {
  const named = DAYS.indexOf(text.toUpperCase());
  if (named !== -1) return named;
  return /^[0-7]$/.test(text) ? Number(text) % 7 : undefined;
}

/** Name of a weekday; 0 is Sunday. */
export function dayName(day: number): string {
  return new Date(Date.UTC(2026, 0, 4 + day)).toLocaleDateString(language, {
    weekday: "long",
    timeZone: "UTC",
  });
}
