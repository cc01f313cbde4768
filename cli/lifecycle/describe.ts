/**
 * A running service in a few lines: what `start`, `restart` and `status` show.
 *
 * @module
 */

import type { ChannelStatus } from "../../lib/channel/channel_status.ts";
import { visibleLine } from "../../lib/base/visible_text.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import { durationOf } from "../channels/status.ts";
import type { Output } from "../output.ts";
import { keeperOf, logPlace } from "./keeper.ts";
import { type Running, within } from "./owner.ts";

/** How long channels may take to say how they are. */
const CHANNELS_MS = 3_000;

/** What is known of one. */
export interface Described {
  state: "running";
  running: true;
  home: string;
  pid: number;
  /** Milliseconds since 1970. */
  startedAt?: number;
  version: string;
  apiUrl?: string;
  wsUrl?: string;
  model: string;
  modelReason: string;
  runningTurns: number;
  queuedTurns: number;
  /** Absent for a service without a gateway. */
  channels?: Pick<ChannelStatus, "runtimeName" | "state" | "problem">[];
  /** Health checks that fail. */
  failing: { name: string; detail: string }[];
  /** Where its log is, in words. */
  log: string;
}

/** Asks it. */
export async function describe(owner: Running, { home }: HomePaths): Promise<Described> {
  const { client, status, record, pid } = owner;
  const { version, apiUrl, wsUrl, model, modelReason, runningTurns, queuedTurns, checks } = status;
  const channels = await within(
    CHANNELS_MS,
    Array.fromAsync(client.stream("channels", {})).catch(() => undefined),
  );
  return {
    state: "running",
    running: true,
    home,
    pid,
    startedAt: record?.startedAt,
    version,
    apiUrl,
    wsUrl,
    model,
    modelReason,
    runningTurns,
    queuedTurns,
    channels: channels?.map(({ runtimeName, state, problem }) => ({ runtimeName, state, problem })),
    failing: Object.entries(checks).filter(([, { ok }]) => !ok)
      .map(([name, { detail }]) => ({ name, detail })),
    log: logPlace(await keeperOf(pid, record)),
  };
}

/** Prints it. `ownVersion`: of this program. */
export function printDescribed(
  out: Output,
  { home, pid, startedAt, version, apiUrl, wsUrl, ...more }: Described,
  { nowMs, ownVersion }: { nowMs: number; ownVersion: string },
): void {
  const since = startedAt === undefined ? "" : `, started ${durationOf(nowMs - startedAt)} ago`;
  out.line({ text: `The service is running (pid ${pid}${since})`, style: "green" });
  const { model, modelReason, runningTurns, queuedTurns, channels, failing, log } = more;
  const rows: [string, string][] = [
    ["Home", home],
    ["Version", version],
    ["WebSocket", wsUrl ?? "off"],
    ["HTTP API", apiUrl ?? "off"],
    ["Model", `${model} (${modelReason})`],
    ["Turns", `${runningTurns} running, ${queuedTurns} queued`],
  ];
  for (const { runtimeName, state, problem } of channels ?? []) {
    if (state === "off") continue;
    const why = problem === undefined ? "" : `: ${visibleLine(problem)}`;
    rows.push(["Channel", `${visibleLine(runtimeName)} ${state}${why}`]);
  }
  rows.push(["Log", log]);
  for (const [name, value] of rows) out.line(`${`${name}:`.padEnd(10)} ${value}`);
  for (const { name, detail } of failing) {
    out.line({ text: "Failing:  ", style: "red" }, ` ${name}: ${visibleLine(detail)}`);
  }
  if (version !== ownVersion) {
    out.note(`This program is version ${ownVersion}. To run it: service restart`);
  }
}
