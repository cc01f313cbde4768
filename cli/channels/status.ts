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
import type { ConfiguredChannels } from "../../lib/registry/worker_source_of.ts";
import type { ChannelsDeps } from "./deps.ts";

/** How a channel is that the service says nothing of. */
type Unasked =
  & Pick<ChannelStatus, "runtimeName" | "channel" | "displayName" | "detail" | "problem">
  & { state: ChannelStatus["state"] | "not running" };

/**
 * Prints all, or those of one channel or runtime name. Where no gateway runs, prints what the configuration
 * says, and rejects as `withRunning` does.
 */
export async function status(
  out: Output,
  deps: ChannelsDeps,
  name: string | undefined,
  globals: Globals,
): Promise<ExitCode> {
  // A configuration that does not load says nothing, and the service runs with the one before.
  const configured = await deps.configured(globals).catch(() => undefined);
  const answer = await deps.withRunning(globals, async (client) => ({
    asked: await Array.fromAsync(client.stream("channels", {})),
    wsUrl: await client.call("status", {}).then(({ wsUrl }) => wsUrl, () => undefined),
  })).catch((error: unknown) => ({ error }));
  const asked = "error" in answer ? [] : answer.asked;
  const wsUrl = "error" in answer ? undefined : answer.wsUrl;
  const others = configured === undefined ? [] : unasked(configured, asked, wsUrl);
  const isNamed = ({ channel, runtimeName }: Unasked) =>
    name === undefined || channel === name || runtimeName === name;
  const shown = asked.filter(isNamed);
  const added = others.filter(isNamed);
  if ("error" in answer) {
    if (globals.json) { for (const each of added) await out.stream(jsonLine(each) + "\n"); }
    else if (added.length > 0) {
      printTable(
        out,
        ["CHANNEL", "STATE", "DETAIL"],
        added.map((each) => [each.runtimeName, each.state, visibleLine(each.problem ?? "")]),
        { wraps: true },
      );
    }
    throw answer.error;
  }
  if (name !== undefined && shown.length + added.length === 0) {
    throw unknownName(name, [...asked, ...others]);
  }
  if (globals.json) {
    for (const each of [...shown, ...added]) await out.stream(jsonLine(each) + "\n");
    return EXIT.done;
  }
  if (asked.every(({ state }) => state === "off")) {
    out.note("No chat platform is enabled. List channels with: service plugins list");
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
    [...shown.map((each) => rowOf(each, deps.now())), ...added.map(rowOfUnasked)],
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

/** Channels beside those that the service tells of: of the service itself, and broken ones. */
function unasked(
  { registry: { usable, broken }, config }: ConfiguredChannels,
  asked: readonly ChannelStatus[],
  wsUrl: string | undefined,
): Unasked[] {
  const left = [...usable].filter(([name]) => asked.every(({ channel }) => channel !== name));
  return [
    ...left.map(([name, { descriptor }]): Unasked => {
      const section = config.channels[name] as { enabled?: boolean } | undefined;
      const named = { runtimeName: name, channel: name, displayName: descriptor.displayName };
      if (section?.enabled !== true) return { ...named, state: "off" };
      // The only one that the service itself is.
      return wsUrl !== undefined && descriptor.capabilities.includes("in_service")
        ? { ...named, state: "running", detail: wsUrl }
        : { ...named, state: "not running" };
    }),
    ...broken.map(({ folder, problem }): Unasked => ({
      runtimeName: folder,
      channel: folder,
      displayName: folder,
      state: "failed",
      problem,
    })),
  ];
}

function rowOfUnasked({ runtimeName, state, detail, problem }: Unasked): string[] {
  return [runtimeName, state, "", "", "", "", "", "", "", visibleLine(detail ?? problem ?? "")];
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

function unknownName(name: string, all: readonly Unasked[]): ServiceError {
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
