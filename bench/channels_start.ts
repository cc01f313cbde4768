/**
 * What channels cost a start: `service gateway` until it is ready, without any channel, with packages
 * that are not enabled, and with one that is.
 *
 * `deno run -A --cached-only --lock=deno.lock --frozen bench/channels_start.ts [--json]`
 *
 * @module
 */

import { makeHome } from "../tests/support/home.ts";
import { copyProject } from "../tests/support/project_copy.ts";
import { talkProject } from "../tests/support/talk_channels.ts";
import { median, report } from "./report.ts";

/** Packages that are there and not enabled. */
const PACKAGES = 20;

const RUNS = 11;

const names = Array.from({ length: PACKAGES }, (_, at) => `idle${at}`);
await using plain = await copyProject();
await using many = await talkProject(names.map((name) => ({ name })));

interface Start {
  root: string;
  channels: Record<string, unknown>;
  times: number[];
}

const webhook = { enabled: true, port: 0, secret: `whsec_${btoa("x".repeat(32))}` };
const starts: Record<"plain" | "many" | "enabled", Start> = {
  plain: { root: plain.root, channels: {}, times: [] },
  many: { root: many.root, channels: {}, times: [] },
  enabled: { root: plain.root, channels: { webhook }, times: [] },
};

async function time({ root, channels }: Start): Promise<number> {
  await using home = await makeHome({ channels }, root);
  const startedAt = performance.now();
  await using _gateway = await home.start(["gateway", "--json"]);
  return performance.now() - startedAt;
}

// The first of each compiles.
for (const start of Object.values(starts)) await time(start);
for (let n = 0; n < RUNS; n++) {
  for (const start of Object.values(starts)) start.times.push(await time(start));
}
const base = median(starts.plain.times);
const against = { name: "the packages of this repository, none enabled", value: base };
report("what channels cost a start", [
  { name: "service gateway, none enabled", value: base, unit: "ms" },
  {
    name: `with ${PACKAGES} more packages`,
    value: median(starts.many.times),
    unit: "ms",
    against,
  },
  {
    name: "of that, for each package",
    value: (median(starts.many.times) - base) / PACKAGES,
    unit: "ms",
    aim: { atMost: 10 },
  },
  {
    name: "with the webhook enabled",
    value: median(starts.enabled.times),
    unit: "ms",
    against,
  },
], { json: Deno.args.includes("--json") });
