/**
 * `service channels status`: how channels are in the service that runs.
 *
 * @module
 */

import { visibleLine } from "../../lib/base/visible_text.ts";
import type { OperationResult } from "../../lib/operations/operations.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { nearest } from "../../lib/base/nearest.ts";
import { EXIT, type ExitCode, type Invocation } from "../command.ts";
import { operateWith } from "../operator/operate_with.ts";
import type { Output } from "../output.ts";
import { printList } from "../print_list.ts";
import { printParagraph } from "../print_paragraph.ts";
import type { ConfiguredChannels } from "../../lib/registry/worker_source_of.ts";
import type { ChannelsDeps } from "./deps.ts";

/** How an instance is. */
type StatusRow = OperationResult<"channels.status">["channels"][number];

/** How a channel is that the service says nothing of. */
type Unasked =
  & Pick<StatusRow, "channel" | "runtime_name" | "display_name" | "detail" | "problem">
  & { state: StatusRow["state"] | "not running" };

/**
 * Prints all, or those of one channel or runtime name. Where no gateway runs, prints what the configuration
 * says, and rejects as `withRunning` does.
 */
export async function status(invocation: Invocation, deps: ChannelsDeps): Promise<ExitCode> {
  const { args: [name], globals, out } = invocation;
  // A configuration that does not load says nothing, and the service runs with the one before.
  const configured = await deps.configured(globals).catch(() => undefined);
  const answer = await deps.withRunning(globals, async (client) => {
    const ask = operateWith(client);
    const { channels: asked } = await ask({ op: "channels.status" });
    return { asked, wsUrl: (await ask({ op: "service.status" })).ws_url };
  }).catch((error: unknown) => ({ error }));
  const { asked, wsUrl } = "error" in answer ? { asked: [], wsUrl: undefined } : answer;
  const others = configured === undefined ? [] : unasked(configured, asked, wsUrl);
  const isNamed = ({ channel, runtime_name }: Unasked) =>
    name === undefined || channel === name || runtime_name === name;
  const shown = asked.filter(isNamed);
  const added = others.filter(isNamed);
  if ("error" in answer) {
    if (added.length > 0) {
      await printList(invocation, added, {
        columns: ["CHANNEL", "STATE", "DETAIL"],
        cells: (each) => [each.runtime_name, each.state, visibleLine(each.problem ?? "")],
        none: "No channels",
        wraps: true,
      });
    }
    throw answer.error;
  }
  if (name !== undefined && shown.length + added.length === 0) {
    throw unknownName(name, [...asked, ...others]);
  }
  if (!globals.json && asked.every(({ state }) => state === "off")) {
    out.note("No chat platform is enabled. List channels with: service plugins list");
  }
  await printList<Unasked>(invocation, [...shown, ...added], {
    columns: [
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
    cells: (each) => cellsOf(each, deps.now()),
    none: "No channels",
    wraps: true,
  });
  if (!globals.json) printProblems(out, shown);
  return EXIT.done;
}

function cellsOf(each: StatusRow | Unasked, nowMs: number): string[] {
  const detail = visibleLine(each.detail ?? "");
  if (!("deliveries" in each)) {
    const why = each.detail === undefined ? visibleLine(each.problem ?? "") : detail;
    return [each.runtime_name, each.state, "", "", "", "", "", "", "", why];
  }
  const { waiting, retrying, sent, unknown, dead } = each.deliveries;
  return [
    each.runtime_name,
    each.state,
    durationOf(nowMs - each.since * 1_000),
    String(each.restarts),
    retrying === 0 ? String(waiting) : `${waiting} (${retrying} again)`,
    String(sent),
    String(unknown),
    String(dead),
    String(each.missed),
    detail,
  ];
}

/** Channels beside those that the service tells of: of the service itself, and broken ones. */
function unasked(
  { registry: { usable, broken }, config }: ConfiguredChannels,
  asked: readonly StatusRow[],
  wsUrl: string | undefined,
): Unasked[] {
  const left = [...usable].filter(([name]) => asked.every(({ channel }) => channel !== name));
  return [
    ...left.map(([name, { descriptor }]): Unasked => {
      const section = config.channels[name] as { enabled?: boolean } | undefined;
      const named = { channel: name, runtime_name: name, display_name: descriptor.displayName };
      if (section?.enabled !== true) return { ...named, state: "off" };
      // The only one that the service itself is.
      return wsUrl !== undefined && descriptor.capabilities.includes("in_service")
        ? { ...named, state: "running", detail: wsUrl }
        : { ...named, state: "not running" };
    }),
    ...broken.map(({ folder, problem }): Unasked => ({
      channel: folder,
      runtime_name: folder,
      display_name: folder,
      state: "failed",
      problem,
    })),
  ];
}

/** Too long for a column, and what is looked for when a channel fails. */
function printProblems(out: Output, shown: readonly StatusRow[]): void {
  const told = shown.filter(({ problem, state }) => problem !== undefined && state !== "off");
  if (told.length > 0) out.line("");
  for (const { runtime_name, problem } of told) {
    printParagraph(out, { text: runtime_name, style: "red" }, `: ${visibleLine(problem!)}`);
  }
  const missed = shown.reduce((sum, each) => sum + each.missed, 0);
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
  const known = all.map(({ runtime_name }) => runtime_name);
  const near = nearest(name, known);
  return new ServiceError(
    "not_found",
    `No channel ${JSON.stringify(name)}${
      near === undefined ? "" : ` (did you mean ${near}?)`
    }; expected one of ${known.join(", ") || "none"}`,
    { param: "NAME" },
  );
}
