/**
 * Durations as people type them.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 } as const;

/** Longest duration: ten years. */
const MAX_MS = 3_650 * UNIT_MS.d;

/** Milliseconds of a duration such as `30d`. Throws `usage`, naming the option. */
export function parseDuration(option: string, text: string): number {
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const ms = Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  if (ms > 0 && ms <= MAX_MS) return ms;
  throw new ServiceError(
    "usage",
    `Option --${option} is ${JSON.stringify(text)}; expected minutes, hours, days or weeks up to ` +
      "ten years, such as 30m, 12h, 30d or 8w",
    { param: option },
  );
}
