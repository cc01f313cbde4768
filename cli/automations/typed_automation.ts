/**
 * An automation, or a change of one, as it was typed.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import type { Invocation, OptionSpec } from "../command.ts";

/** The options that say what an automation is. */
export const AUTOMATION_OPTIONS: readonly OptionSpec[] = [
  { name: "name", value: "NAME", summary: "Display name (the message's first words)" },
  { name: "message", alias: "m", value: "TEXT", summary: "Message to the agent at each run" },
  { name: "every", value: "TIME", summary: "Interval: 30m, 1h, 2d or 1w" },
  { name: "cron", value: "PATTERN", summary: "Cron pattern, such as '30 8 * * MON-FRI'" },
  { name: "time-zone", value: "ZONE", summary: "Zone of --cron, such as Europe/Berlin (local)" },
  { name: "at", value: "TIME", summary: "Run once, such as '2026-03-01 08:30' (local time)" },
  { name: "missed", value: "RULE", summary: "Missed slots: skip, once or all (once)" },
  { name: "overlap", value: "RULE", summary: "Slot during an earlier run: skip or queue (skip)" },
  { name: "token-budget", value: "N", summary: "Most tokens a run may use (200000)" },
  { name: "max-steps", value: "N", summary: "Most model calls a run may make (50)" },
  { name: "retries", value: "N", summary: "Retries of a failed run (0)" },
  { name: "deliver", value: "TARGET", summary: "Send results to a chat, <channel>:<id>" },
  {
    name: "when",
    value: "RULE",
    summary: "With --deliver, send results: always, change or error (always)",
  },
  { name: "no-deliver", summary: "Keep results in the history only" },
  { name: "off", summary: "Create it disabled" },
  { name: "from", value: "FILE", summary: "Read it as JSON from a file, or - for standard input" },
];

/** What typing depends on. */
export interface TypedContext {
  /** This machine's zone of the IANA database. */
  timeZone: string;
}

const UNIT_S = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 } as const;

/** The fields that were typed. Throws `usage`, naming the option; the service checks the rest. */
export function typedAutomation(
  options: Invocation["options"],
  { timeZone }: TypedContext,
): Record<string, unknown> {
  const text = (name: string) => options[name] as string | undefined;
  const fields: Record<string, unknown> = {
    name: text("name"),
    message: text("message"),
    schedule: schedule(text, timeZone),
    missed: text("missed"),
    overlap: text("overlap"),
    tokenBudget: integer("token-budget", text("token-budget")),
    maxSteps: integer("max-steps", text("max-steps")),
    retries: integer("retries", text("retries")),
    delivery: delivery(text, options["no-deliver"] === true),
    enabled: options["off"] === true ? false : undefined,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The first words of a message, as a name; undefined when it has none. */
export function nameOf(message: unknown): string | undefined {
  if (typeof message !== "string") return undefined;
  const words = message.replace(/[\s\p{C}]+/gu, " ").trim();
  if (words === "") return undefined;
  return words.length <= 60 ? words : `${words.slice(0, 59).toWellFormed().trimEnd()}…`;
}

type Text = (name: string) => string | undefined;

function schedule(text: Text, localZone: string): Record<string, unknown> | undefined {
  const [every, cron, at, zone] = ["every", "cron", "at", "time-zone"].map(text);
  const given = [every, cron, at].filter((each) => each !== undefined).length;
  if (given > 1) throw usage("every", "Only one of --every, --cron and --at can be given");
  if (zone !== undefined && cron === undefined) {
    throw usage("time-zone", "Option --time-zone goes with --cron");
  }
  if (every !== undefined) return { every: seconds(every) };
  if (at !== undefined) return { at: instant(at) };
  return cron === undefined ? undefined : { cron, timeZone: zone ?? localZone };
}

function seconds(typed: string): number {
  const [, count, unit = "s"] = /^(\d{1,9})([smhdw])?$/.exec(typed) ?? [];
  if (count !== undefined) return Number(count) * UNIT_S[unit as keyof typeof UNIT_S];
  throw usage(
    "every",
    `Option --every is ${
      JSON.stringify(typed)
    }; expected seconds, minutes, hours, days or weeks, ` +
      "such as 30m or 1h",
  );
}

/** A time without an offset is one of this machine's zone. */
function instant(typed: string): string {
  const local = /^(\d{4}-\d\d-(\d\d))[T ](\d\d:\d\d(?::\d\d)?)$/.exec(typed);
  if (local === null) return typed;
  const [, day, dayOfMonth, time] = local;
  const date = new Date(`${day}T${time}`);
  // A 30th of February would silently become a day in March.
  const isDay = new Date(`${day}T00:00Z`).getUTCDate() === Number(dayOfMonth);
  if (isDay && !Number.isNaN(date.getTime())) return date.toISOString();
  throw usage(
    "at",
    `Option --at is ${JSON.stringify(typed)}; expected a date and time such as '2026-03-01 08:30'`,
  );
}

function delivery(text: Text, isOff: boolean): Record<string, unknown> | null | undefined {
  const target = text("deliver");
  const when = text("when");
  if (isOff && target !== undefined) {
    throw usage("deliver", "Only one of --deliver and --no-deliver can be given");
  }
  if (target === undefined) {
    if (when !== undefined) throw usage("when", "Option --when goes with --deliver");
    return isOff ? null : undefined;
  }
  const colon = target.indexOf(":");
  if (colon < 1 || colon === target.length - 1) {
    throw usage(
      "deliver",
      `Option --deliver is ${
        JSON.stringify(target)
      }; expected <channel>:<chat>, such as telegram:12345`,
    );
  }
  const [channel, chatId] = [target.slice(0, colon), target.slice(colon + 1)];
  return { channel, chatId, ...when !== undefined && { when } };
}

function integer(option: string, typed: string | undefined): number | undefined {
  if (typed === undefined || /^\d{1,15}$/.test(typed)) {
    return typed === undefined ? undefined : Number(typed);
  }
  throw usage(
    option,
    `Option --${option} is ${JSON.stringify(typed)}; expected a whole number`,
  );
}

function usage(param: string, message: string): ServiceError {
  return new ServiceError("usage", message, { param });
}
