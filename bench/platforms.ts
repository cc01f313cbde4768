/**
 * What the channels of all platforms cost together, against servers of tests: how long until all of them
 * run, and what they hold in memory, beside a gateway without channels.
 *
 * `deno run -A --cached-only --lock=deno.lock --frozen bench/platforms.ts [--json]`
 *
 * @module
 */

import type { ChannelPlatform } from "../lib/channel/testing/mod.ts";
import { makeHome } from "../tests/support/home.ts";
import { channelStatuses } from "../tests/support/outbox_of.ts";
import { PLATFORMS, preparePlatforms } from "../tests/support/platforms.ts";
import { sharedMb } from "./processes.ts";
import { median, report } from "./report.ts";

const RUNS = 5;

/** After so long a channel does not run any more, milliseconds. */
const PATIENCE_MS = 60_000;

/** Of one start. */
interface Start {
  /** Until the gateway is ready, milliseconds. */
  readyMs: number;
  /** Until every channel runs. */
  runningMs: number;
  /** Of all its processes, each page counted once. */
  memoryMb: number;
}

async function start(opened: ReadonlyMap<string, ChannelPlatform>): Promise<Start> {
  const channels = Object.fromEntries(
    [...opened].map(([name, { section, senders }]) => [
      name,
      { enabled: true, ...section, allowFrom: [...senders] },
    ]),
  );
  await using home = await makeHome({ channels });
  await preparePlatforms(home, opened);
  const startedAt = performance.now();
  await using gateway = await home.start(["gateway", "--json"]);
  const readyMs = performance.now() - startedAt;
  // A line of the log for each; asking would cost more than what is measured.
  const isRunning = (name: string) =>
    gateway.log().split("\n").some((line) => line.endsWith(`A channel runs channel=${name}`));
  while (!Object.keys(channels).every(isRunning)) {
    if (performance.now() - startedAt > PATIENCE_MS) throw new Error(gateway.log());
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const runningMs = performance.now() - startedAt;
  const states = [...await channelStatuses(home)].filter(([name]) => name in channels)
    .map(([, { state }]) => state);
  if (states.some((state) => state !== "running")) throw new Error(gateway.log());
  return { readyMs, runningMs, memoryMb: sharedMb(gateway.pid) };
}

/** Starts with the platforms of these names, each opened anew. */
async function startWith(names: readonly string[]): Promise<Start> {
  const opened = new Map<string, ChannelPlatform>();
  try {
    for (const name of names) opened.set(name, await PLATFORMS[name]!());
    return await start(opened);
  } finally {
    for (const platform of opened.values()) await platform.close();
  }
}

const names = Object.keys(PLATFORMS);
const sets: Record<string, readonly string[]> = {
  none: [],
  all: names,
  ...Object.fromEntries(names.map((name) => [name, [name]])),
};
const starts: Record<string, Start[]> = {};
for (const [name, set] of Object.entries(sets)) {
  // The first compiles.
  await startWith(set);
  starts[name] = [];
  for (let n = 0; n < RUNS; n++) starts[name].push(await startWith(set));
}
const figure = (name: string, part: keyof Start) => median(starts[name]!.map((one) => one[part]));
const without = (part: keyof Start) => ({
  name: "a gateway without channels",
  value: figure("none", part),
});

report("what the channels of all platforms cost", [
  { name: "none: until it is ready", value: figure("none", "readyMs"), unit: "ms" },
  {
    name: "all: until it is ready",
    value: figure("all", "readyMs"),
    unit: "ms",
    against: without("readyMs"),
  },
  {
    name: "all: until all of them run",
    value: figure("all", "runningMs"),
    unit: "ms",
    against: without("readyMs"),
  },
  { name: "none: memory", value: figure("none", "memoryMb"), unit: "MB" },
  {
    name: "all: memory",
    value: figure("all", "memoryMb"),
    unit: "MB",
    against: without("memoryMb"),
  },
  ...names.flatMap((name) => [
    {
      name: `${name} alone: until it runs`,
      value: figure(name, "runningMs"),
      unit: "ms",
      against: without("readyMs"),
    },
    {
      name: `${name} alone: memory`,
      value: figure(name, "memoryMb"),
      unit: "MB",
      against: without("memoryMb"),
    },
  ]),
], { json: Deno.args.includes("--json") });
