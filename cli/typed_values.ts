/**
 * Values of options that no schema reads.
 *
 * @module
 */

import { ServiceError } from "../lib/base/errors.ts";
import type { Invocation } from "./command.ts";

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** A moment in milliseconds since 1970: so long ago (`2h`), or a date with or without a time. */
export function parseTime(
  name: string,
  value: Invocation["options"][string],
  now: number,
): number | undefined {
  const given = typed(value);
  if (given === undefined) return undefined;
  const ago = /^(\d{1,9})([smhdw])$/.exec(given);
  if (ago !== null) return now - Number(ago[1]) * UNIT_MS[ago[2]!]!;
  const isDate = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/
    .test(given);
  const ms = isDate ? Date.parse(given) : NaN;
  if (!Number.isNaN(ms)) return ms;
  throw wrong(
    name,
    given,
    "a time ago such as 30s, 15m, 2h or 7d, or a date such as 2030-01-31T12:00Z",
  );
}

/** A whole number from an option; undefined when it was not given. */
export function parseNumber(
  name: string,
  value: Invocation["options"][string],
  least: number,
  most: number,
): number | undefined {
  const given = typed(value);
  if (given === undefined) return undefined;
  const number = Number(given);
  if (/^\d{1,15}$/.test(given) && number >= least && number <= most) return number;
  throw wrong(name, given, `a whole number from ${least} to ${most}`);
}

function typed(value: Invocation["options"][string]): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function wrong(name: string, value: string, expected: string): ServiceError {
  return new ServiceError(
    "usage",
    `Option --${name} is ${JSON.stringify(value)}; expected ${expected}`,
    { param: name },
  );
}
