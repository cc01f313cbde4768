/**
 * The strings of the app in the browser's language, and how numbers and times are written in it. A
 * language is one file in `locales/`; English says which keys there are.
 *
 * @module
 */

import type { Strings } from "./locales/en.ts";

const LOCALES: Readonly<Record<string, () => Promise<{ default: Strings }>>> = {
  en: () => import("./locales/en.ts"),
  de: () => import("./locales/de.ts"),
};

/** The strings; there before anything is rendered. */
export let t: Strings;

/** Language that the strings are in. */
export let language = "en";

/** Loads the first language of a list that there is, else English. */
export async function loadLocale(wanted: readonly string[]): Promise<void> {
  language = wanted.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag in LOCALES) ??
    "en";
  ({ default: t } = await LOCALES[language]!());
  document.documentElement.lang = language;
}

/** Such as 12,345. */
export function formatNumber(value: number, options?: Intl.NumberFormatOptions): string {
  return value.toLocaleString(language, options);
}

/** Such as 1.4 MB. */
export function formatBytes(bytes: number): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return new Intl.NumberFormat(language, {
    style: "unit",
    unit: units[power],
    unitDisplay: "short",
    maximumFractionDigits: power < 2 ? 0 : 1,
  }).format(bytes / 1_000 ** power);
}

/** Such as 0.4 s, or 2 min 5 s. */
export function formatDuration(ms: number): string {
  const unit = (value: number, name: "second" | "minute", digits = 0) =>
    new Intl.NumberFormat(language, {
      style: "unit",
      unit: name,
      unitDisplay: "narrow",
      maximumFractionDigits: digits,
    }).format(value);
  if (ms < 10_000) return unit(ms / 1_000, "second", 1);
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return unit(seconds, "second");
  return `${unit(Math.floor(seconds / 60), "minute")} ${unit(seconds % 60, "second")}`;
}

const AGES: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** A time of the service as people say it: 3 minutes ago, in 3 minutes, else a date. */
export function formatAgo(seconds: number, nowMs = Date.now()): string {
  const age = nowMs / 1_000 - seconds;
  if (Math.abs(age) > 7 * 86_400) return formatDate(seconds);
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" });
  // The last minute is counted down; of what is past nobody counts seconds.
  const [unit, length] = AGES.find(([, length]) => Math.abs(age) >= length) ??
    ["second", age < 0 ? 1 : Infinity];
  return relative.format(-Math.trunc(age / length), unit);
}

/** Such as 3 Feb 2026. */
export function formatDate(seconds: number): string {
  return new Date(seconds * 1_000).toLocaleDateString(language, {
    day: "numeric",
    month: "short",
    year: "numeric",
  });
}

/** A time of the service, whole. */
export function formatTime(seconds: number): string {
  return new Date(seconds * 1_000).toLocaleString(language, {
    dateStyle: "medium",
    timeStyle: "medium",
  });
}
