/**
 * `service channels status`: how channels are in the service that runs.
 *
 * @module
 */

import { visibleLine } from "../../lib/base/visible_text.ts";
import type { ChannelStatus } from "../../lib/channel/channel_status.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { nearest } from "../../lib/base/nearest.ts";
import { EXIT, type ExitCode, type Globals } from "../command.ts";
import { jsonLine, type Output } from "../output.ts";
import { printParagraph } from "../print_paragraph.ts";
import { printTable } from "../table.ts";
import type { ChannelsDeps } from "./deps.ts";

/** Prints all, or those of one channel or runtime name. */
export async function status(
  out: Output,
  deps: ChannelsDeps,
  name: string | undefined,
  globals: Globals,
): Promise<ExitCode> {
  const all = await deps.withRunning(
    globals,
    (client) => Array.fromAsync(client.stream("channels", {})),
  );
  const shown = name === undefined
    ? all
    : all.filter(({ channel, runtimeName }) => channel === name || runtimeName === name);
  if (name !== undefined && shown.length === 0) throw unknownName(name, all);
  if (globals.json) {
    for (const each of shown) await out.stream(jsonLine(each) + "\n");
    return EXIT.done;
  }
  if (shown.length === 0) {
    out.note("The gateway runs no channels. List channels with: service plugins list");
    return EXIT.done;
  }
  printTable(
    out,
    [
      "CHANNEL",
      "STATE",
      "FOR",
      "RESTARTS",
      "WAITING",
      "SENT",
      "UNKNOWN",
      "DEAD",
      "MISSED",
      "DETAIL",
    ],
    shown.map((each) => rowOf(each, deps.now())),
    { wraps: true },
  );
  printProblems(out, shown);
  return EXIT.done;
}

function rowOf(each: ChannelStatus, nowMs: number): string[] {
  const { waiting, retrying, sent, unknown, dead } = each.deliveries;
  return [
    each.runtimeName,
    each.state,
    durationOf(nowMs - each.since),
    String(each.restarts),
    retrying === 0 ? String(waiting) : `${waiting} (${retrying} again)`,
    String(sent),
    String(unknown),
    String(dead),
    String(each.missed ?? 0),
    visibleLine(each.detail ?? ""),
  ];
}

/** Too long for a column, and what is looked for when a channel fails. */
function printProblems(out: Output, shown: readonly ChannelStatus[]): void {
  const told = shown.filter(({ problem, state }) => problem !== undefined && state !== "off");
  if (told.length > 0) out.line("");
  for (const { runtimeName, problem } of told) {
    printParagraph(out, { text: runtimeName, style: "red" }, `: ${visibleLine(problem!)}`);
  }
  const missed = shown.reduce((sum, each) => sum + (each.missed ?? 0), 0);
  if (missed > 0) {
    out.note(`Missed messages: ${missed}. List them with: service channels missed`);
  }
  if (shown.some(({ deliveries: { unknown, dead } }) => unknown + dead > 0)) {
    out.note("Resend or drop unknown and dead messages with: service outbox");
  }
}

/** Such as `3 d 4 h`; two units at most. */
export function durationOf(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3_600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first === -1) return "0 s";
  return parts.slice(first, first + 2).filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`).join(" ");
}

function unknownName(name: string, all: readonly ChannelStatus[]): ServiceError {
  const known = all.map(({ runtimeName }) => runtimeName);
  const near = nearest(name, known);
  return new ServiceError(
    "not_found",
    `No channel ${JSON.stringify(name)}${
      near === undefined ? "" : ` (did you mean ${near}?)`
    }; expected one of ${known.join(", ") || "none"}`,
    { param: "NAME" },
  );
}
