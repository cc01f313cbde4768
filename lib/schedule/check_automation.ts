/**
 * Reads an automation as somebody wrote it, with every check that there is.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import type { Automation, Schedule } from "../contract/automation.ts";
import { automationSchema } from "./automation_schema.ts";
import { CRON_FORM } from "./cron_series.ts";
import { nextSlot } from "./next_slot.ts";

/** Most characters of a value in a message, and most problems that are named. */
const MAX_SHOWN_CHARS = 60;
const MAX_NAMED = 10;

/** Compiling the schema to code would need a permission that no process of this program has. */
const PARSING = { jitless: true };

/** What a check needs to know beside the automation. */
export interface CheckOptions {
  /** Milliseconds since 1970. */
  now: number;
  /** The schedule before a change: an `at` that stays as it is may have passed. */
  previous?: Schedule;
}

/**
 * The automation with its defaults. Throws `invalid_request`, which names each wrong field, its value
 * and what was expected; `param` is the first of them.
 */
export function checkAutomation(value: unknown, { now, previous }: CheckOptions): Automation {
  const parsed = automationSchema.safeParse(value, PARSING);
  if (!parsed.success) {
    throw refusal(parsed.error.issues.flatMap((each) => problemsOf(each, value)));
  }
  const { schedule } = parsed.data;
  const problem = scheduleProblem(schedule, now, previous);
  if (problem !== undefined) throw refusal([problem]);
  return parsed.data;
}

interface Problem {
  field: string;
  value: unknown;
  expected: string;
}

function refusal(problems: readonly Problem[]): ServiceError {
  const lines = problems.slice(0, MAX_NAMED).map(({ field, value, expected }) =>
    `${field} is ${shown(value)}; expected ${expected}`
  );
  if (problems.length > MAX_NAMED) lines.push(`and ${problems.length - MAX_NAMED} more`);
  return new ServiceError("invalid_request", lines.join("\n"), { param: problems[0]!.field });
}

type Issue = {
  code?: string;
  path: PropertyKey[];
  message: string;
  keys?: string[];
};

function problemsOf(issue: Issue, root: unknown): Problem[] {
  const path = issue.path.map(String);
  const at = valueAt(root, path);
  if (issue.code !== "unrecognized_keys") {
    return [{ field: path.join(".") || "automation", value: at, expected: issue.message }];
  }
  return issue.keys!.map((key) => ({
    field: [...path, key.slice(0, MAX_SHOWN_CHARS)].join("."),
    value: valueAt(at, [key]),
    expected: "no such field",
  }));
}

function valueAt(root: unknown, path: readonly string[]): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

function shown(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "string") {
    const cut = value.length > MAX_SHOWN_CHARS ? `${value.slice(0, MAX_SHOWN_CHARS)}…` : value;
    return JSON.stringify(cut.toWellFormed());
  }
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

function scheduleProblem(
  { at, every, cron, timeZone }: Schedule,
  now: number,
  previous: Schedule | undefined,
): Problem | undefined {
  const given = Object.entries({ at, every, cron }).filter(([, each]) => each !== undefined);
  if (given.length !== 1) {
    const value = given.length === 0 ? undefined : given.map(([key]) => key).join(" and ");
    return { field: "schedule", value, expected: "exactly one of at, every and cron" };
  }
  if (cron === undefined) {
    if (timeZone !== undefined) {
      return { field: "schedule.timeZone", value: timeZone, expected: "no zone without cron" };
    }
    if (at === undefined || at === previous?.at || Date.parse(at) > now) return undefined;
    const expected = `an instant after now, ${new Date(now).toISOString()}`;
    return { field: "schedule.at", value: at, expected };
  }
  if (timeZone === undefined || !isTimeZone(timeZone)) {
    const expected = "a zone of the IANA database, such as Europe/Berlin";
    return { field: "schedule.timeZone", value: timeZone, expected };
  }
  let due: number | undefined;
  try {
    due = nextSlot({ cron, timeZone }, { createdAt: now, afterExclusive: now });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { field: "schedule.cron", value: cron, expected: CRON_FORM };
  }
  if (due !== undefined) return undefined;
  const expected = "a pattern that comes due; no such day exists";
  return { field: "schedule.cron", value: cron, expected };
}

/** Whether a text names a zone of the IANA database; a bare offset such as `+02:00` names none. */
function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,99}$/.test(text)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: text });
    return true;
  } catch {
    return false;
  }
}
