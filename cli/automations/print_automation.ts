/**
 * Prints automations and runs for people; times are those of this machine's zone.
 *
 * @module
 */

import type { Schedule } from "../../lib/contract/automation.ts";
import type { AutomationView, RunView } from "../../lib/automation/automation_view.ts";
import type { Output } from "../output.ts";
import { printTable } from "../table.ts";

const UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [604_800, "w"],
  [86_400, "d"],
  [3_600, "h"],
  [60, "m"],
  [1, "s"],
];

/** `YYYY-MM-DD HH:MM <zone>` of an instant, milliseconds since 1970, in a zone. */
function localTime(ms: number, timeZone: string): string {
  const parts = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZoneName: "short",
  }).formatToParts(ms);
  const of = (type: string) => parts.find((part) => part.type === type)?.value ?? "";
  return `${of("year")}-${of("month")}-${of("day")} ${of("hour")}:${of("minute")} ${
    of("timeZoneName")
  }`;
}

/** When an automation is due, in few words. */
function scheduleText({ at, every, cron, timeZone }: Schedule, localZone: string): string {
  if (at !== undefined) return `at ${localTime(Date.parse(at), localZone)}`;
  if (cron !== undefined) return `${cron} (${timeZone})`;
  const [unit, name] = UNITS.find(([unit]) => every! % unit === 0)!;
  return `every ${every! / unit}${name}`;
}

/** A table of them. */
export function printAutomations(
  out: Output,
  views: readonly AutomationView[],
  timeZone: string,
): void {
  printTable(
    out,
    ["ID", "SCHEDULE", "NEXT", "LAST RUN", "NAME"],
    views.map((view) => [
      view.id,
      scheduleText(view.spec.schedule, timeZone),
      nextText(view, timeZone),
      view.lastRun === undefined ? "none" : view.lastRun.state,
      view.spec.name,
    ]),
  );
}

/** All that is to be said of one. */
export function printAutomation(out: Output, view: AutomationView, timeZone: string): void {
  const { id, spec, missed, overlapped, lastRun } = view;
  out.line({ text: id, style: "bold" }, `  ${spec.name}`);
  const rows: [string, string][] = [
    ["Schedule", scheduleText(spec.schedule, timeZone)],
    ["Next", nextText(view, timeZone)],
    ["Bounds", `${spec.maxSteps} model calls, ${spec.tokenBudget} tokens, ${spec.retries} retries`],
    ["Rules", `missed ${spec.missed}, overlap ${spec.overlap}`],
    ["Delivery", deliveryText(spec.delivery)],
    ["Counted", `${missed} missed, ${overlapped} overlapped`],
    ["Last run", lastRun === undefined ? "none" : runText(lastRun, timeZone)],
    ["Session", `automation:${id}`],
  ];
  for (const [name, value] of rows) out.line(`${`${name}:`.padEnd(10)} ${value}`);
  out.line();
  out.line(spec.message.trimEnd());
  printWarnings(out, view);
}

/** What people should know, on standard error. */
export function printWarnings(out: Output, { warnings }: AutomationView): void {
  for (const warning of warnings) out.note(`warning: ${warning}`);
}

/** A table of runs. */
export function printRuns(out: Output, runs: readonly RunView[], timeZone: string): void {
  printTable(
    out,
    ["RUN", "SLOT", "STATE", "ATTEMPTS", "ENDED", "RESULT"],
    runs.map(({ id, slotAt, state, attempts, endedAt, answer, error }) => [
      `${id}`,
      slotAt === undefined ? "asked for" : localTime(slotAt, timeZone),
      state,
      `${attempts}`,
      endedAt === undefined ? "" : localTime(endedAt, timeZone),
      answer ?? error ?? "",
    ]),
  );
}

/** When it is due next: a time of that zone, `never`, or `off`. */
export function nextText({ spec, nextAt }: AutomationView, timeZone: string): string {
  if (!spec.enabled) return "off";
  return nextAt === undefined ? "never" : localTime(nextAt, timeZone);
}

function deliveryText(delivery: AutomationView["spec"]["delivery"]): string {
  if (delivery === undefined) return "none; answers stay in the history";
  return `${delivery.when}, to ${delivery.channel}:${delivery.chatId}`;
}

function runText(run: RunView, timeZone: string): string {
  const at = localTime(run.endedAt ?? run.slotAt ?? run.claimedAt, timeZone);
  return `${run.state}, ${at}${run.error === undefined ? "" : `: ${run.error}`}`;
}
