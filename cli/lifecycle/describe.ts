/**
 * A running service in a few lines: what `start`, `restart` and `status` show.
 *
 * @module
 */

import { visibleLine } from "../../lib/base/visible_text.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import type { OperationResult } from "../../lib/operations/operations.ts";
import type { ServiceStatus } from "../../lib/operations/service_status.ts";
import { durationOf } from "../channels/status.ts";
import { appAddress } from "../open_browser.ts";
import { operateWith } from "../operator/operate_with.ts";
import type { Output, Span } from "../output.ts";
import { printParagraph } from "../print_paragraph.ts";
import { keeperOf, logPlace } from "./keeper.ts";
import { type Running, within } from "./owner.ts";

/** How long channels may take to say how they are. */
const CHANNELS_MS = 3_000;

/** What is known of one. */
export interface Described extends ServiceStatus {
  state: "running";
  running: true;
  home: string;
  /** Seconds since 1970. */
  started_at?: number;
  /** Absent for a service without a gateway. */
  channels?: OperationResult<"channels.status">["channels"];
  /** Where its log is, in words. */
  log: string;
}

/** Asks it. */
export async function describe(owner: Running, { home }: HomePaths): Promise<Described> {
  const { client, status, record, pid } = owner;
  const answer = await within(
    CHANNELS_MS,
    operateWith(client)({ op: "channels.status" }).catch(() => undefined),
  );
  return {
    state: "running",
    running: true,
    home,
    ...record !== undefined && { started_at: Math.floor(record.startedAt / 1_000) },
    ...status,
    channels: answer?.channels,
    log: logPlace(await keeperOf(pid, record)),
  };
}

/** Prints it. `ownVersion`: of this program. */
export function printDescribed(
  out: Output,
  { home, pid, started_at, version, api_url, ws_url, ...more }: Described,
  { nowMs, ownVersion }: { nowMs: number; ownVersion: string },
): void {
  const since = started_at === undefined
    ? ""
    : `, started ${durationOf(nowMs - started_at * 1_000)} ago`;
  printParagraph(out, { text: "The service is running", style: "green" }, ` (pid ${pid}${since})`);
  const { model_name, model_reason, turns, channels, checks, log } = more;
  const address = appAddress(ws_url);
  const rows: [string, string][] = [
    ["Home", home],
    ["Version", version],
    ["WebSocket", ws_url ?? "off"],
    ...address === undefined ? [] : [["Browser", address] as [string, string]],
    ["HTTP API", api_url ?? "off"],
    ["Model", `${model_name} (${model_reason})`],
    ["Turns", `${turns.running} running, ${turns.queued} queued`],
  ];
  for (const { runtime_name, state, problem } of channels ?? []) {
    if (state === "off") continue;
    const why = problem === undefined ? "" : `: ${visibleLine(problem)}`;
    rows.push(["Channel", `${visibleLine(runtime_name)} ${state}${why}`]);
  }
  rows.push(["Log", log]);
  for (const [name, value] of rows) {
    printParagraph(out, { text: `${`${name}:`.padEnd(10)} ` }, value);
  }
  for (const [name, { ok, detail }] of Object.entries(checks)) {
    if (ok) continue;
    const head: Span = { text: "Failing:   ", style: "red" };
    printParagraph(out, head, `${name}: ${visibleLine(detail)}`);
  }
  if (version !== ownVersion) {
    out.note(`This program is version ${ownVersion}. To run it: service restart`);
  }
}
