/**
 * Prints automations and runs for people. Times are relative in the tables of a terminal, elsewhere
 * those of this machine's zone.
 *
 * @module
 */

import type { Schedule } from "../../lib/contract/automation.ts";
import type { AutomationRow, RunRow } from "./find_automation.ts";
import type { Output } from "../output.ts";
import { plural } from "../plural.ts";
import { printParagraph } from "../print_paragraph.ts";
import { printTable } from "../table.ts";
import { relativeTime } from "../time_text.ts";

const UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [604_800, "w"],
  [86_400, "d"],
  [3_600, "h"],
  [60, "m"],
  [1, "s"],
];

/** `YYYY-MM-DD HH:MM <zone>` of an instant, seconds since 1970, in a zone. */
function localTime(seconds: number, timeZone: string): string {
  const parts = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZoneName: "short",
  }).formatToParts(seconds * 1_000);
  const of = (type: string) => parts.find((part) => part.type === type)?.value ?? "";
  return `${of("year")}-${of("month")}-${of("day")} ${of("hour")}:${of("minute")} ${
    of("timeZoneName")
  }`;
}

/** A time in a table. */
function listedTime(out: Output, seconds: number, timeZone: string): string {
  return out.isTerminal ? relativeTime(seconds * 1_000, Date.now()) : localTime(seconds, timeZone);
}

/** When an automation is due, in few words. */
function scheduleText({ at, every, cron, timeZone }: Schedule, localZone: string): string {
  if (at !== undefined) return `at ${localTime(Date.parse(at) / 1_000, localZone)}`;
  if (cron !== undefined) return `${cron} (${timeZone})`;
  const [unit, name] = UNITS.find(([unit]) => every! % unit === 0)!;
  return `every ${every! / unit}${name}`;
}

/** A table of them. */
export function printAutomations(
  out: Output,
  views: readonly AutomationRow[],
  timeZone: string,
): void {
  printTable(
    out,
    ["ID", "SCHEDULE", "NEXT", "LAST RUN", "NAME"],
    views.map((view) => [
      view.id,
      scheduleText(view.automation.schedule, timeZone),
      view.automation.enabled && view.next_at !== undefined
        ? listedTime(out, view.next_at, timeZone)
        : nextText(view, timeZone),
      view.last_run === undefined ? "none" : view.last_run.state,
      view.automation.name,
    ]),
  );
}

/** Every detail of one. */
export function printAutomation(out: Output, view: AutomationRow, timeZone: string): void {
  const { id, automation: spec, missed, overlapped, last_run: lastRun } = view;
  printParagraph(out, { text: id, style: "bold" }, `  ${spec.name}`);
  const rows: [string, string][] = [
    ["Schedule", scheduleText(spec.schedule, timeZone)],
    ["Next", nextText(view, timeZone)],
    [
      "Bounds",
      [
        plural(spec.maxSteps, "model call"),
        plural(spec.tokenBudget, "token"),
        plural(spec.retries, "retry", "retries"),
      ].join(", "),
    ],
    ["Rules", `missed ${spec.missed}, overlap ${spec.overlap}`],
    ["Delivery", deliveryText(spec.delivery)],
    ["Counted", `${missed} missed, ${overlapped} overlapped`],
    ["Last run", lastRun === undefined ? "none" : runText(lastRun, timeZone)],
    ["Session", `automation:${id}`],
  ];
  for (const [name, value] of rows) {
    printParagraph(out, { text: `${`${name}:`.padEnd(10)} ` }, value);
  }
  out.line();
  out.line({ text: spec.message.trimEnd(), isData: true });
  printWarnings(out, view);
}

/** Its warnings, on standard error. */
export function printWarnings(out: Output, { warnings }: AutomationRow): void {
  for (const warning of warnings) out.note(`warning: ${warning}`);
}

/** A table of runs. */
export function printRuns(out: Output, runs: readonly RunRow[], timeZone: string): void {
  printTable(
    out,
    ["RUN", "SLOT", "STATE", "ATTEMPTS", "ENDED", "RESULT"],
    runs.map(({ id, slot_at: slotAt, state, attempts, ended_at: endedAt, answer, error }) => [
      `${id}`,
      slotAt === undefined ? "asked for" : listedTime(out, slotAt, timeZone),
      state,
      `${attempts}`,
      endedAt === undefined ? "" : listedTime(out, endedAt, timeZone),
      answer ?? error ?? "",
    ]),
  );
}

/** When it is due next: a time of that zone, `never`, or `off`. */
export function nextText({ automation, next_at: nextAt }: AutomationRow, timeZone: string): string {
  if (!automation.enabled) return "off";
  return nextAt === undefined ? "never" : localTime(nextAt, timeZone);
}

function deliveryText(delivery: AutomationRow["automation"]["delivery"]): string {
  if (delivery === undefined) return "none; answers stay in the history";
  return `${delivery.when}, to ${delivery.channel}:${delivery.chatId}`;
}

function runText(run: RunRow, timeZone: string): string {
  const at = localTime(run.ended_at ?? run.slot_at ?? run.claimed_at, timeZone);
  return `${run.state}, ${at}${run.error === undefined ? "" : `: ${run.error}`}`;
}
