/**
 * An action of a file tool end to end: resolved, decided, recorded, run in a child of its own in the
 * sandbox, recorded again. Bound: 25 ms for a cold child.
 *
 * Beside it the same child without gate and record, the two records alone, and the start of a Deno that
 * does nothing, which no cold child can beat.
 *
 *     deno run -A --cached-only --lock=deno.lock --frozen bench/file_action.ts [--json]
 *
 * @module
 */

import { actionJob } from "../lib/executor/child_job.ts";
import { createExecutor } from "../lib/executor/executor.ts";
import { resolveTouch, sealAction } from "../lib/gate/resolve_touch.ts";
import { gateFixture } from "../lib/authority/testing/gate_fixture.ts";
import { findTool } from "../lib/tools/mod.ts";
import { median, report } from "./report.ts";

const ROUNDS = 40;
const AIM_MS = 25;

const silent = () => {};
const log = { debug: silent, info: silent, warning: silent, error: silent };
await using gate = await gateFixture();
const { workspace } = gate;
const executor = createExecutor({ cacheDir: `${gate.root}/cache`, log });
const args = { path: "notes.md" };
await Deno.writeTextFile(`${workspace}/notes.md`, "a line\n".repeat(100));
const { confined, reason } = await executor.confinement();

async function timed(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

async function whole(): Promise<void> {
  const result = await gate.act("read_file", args);
  if (result.status !== "ok") throw new Error(result.output);
}

async function child(): Promise<void> {
  const tool = findTool("read_file")!;
  const checked = tool.schema.parse(args);
  const target = await resolveTouch(tool, checked, { path: workspace, real: workspace }, {
    from: { channel: "cli", sessionKey: "cli:bench" },
  });
  const job = actionJob(sealAction(tool, checked, target), tool, {
    workspace,
    maxOutputBytes: 100_000,
  });
  const signal = new AbortController().signal;
  const outcome = await executor.run(job, { signal, onProgress: silent });
  if (outcome.type !== "result") throw new Error(JSON.stringify(outcome));
}

const nothing = `${gate.root}/nothing.js`;
await Deno.writeTextFile(nothing, "");
const bare = () =>
  new Deno.Command(Deno.execPath(), { args: ["run", "--no-config", nothing], stdin: "null" })
    .output();

const records = async () => {
  for (const at of ["start", "end"]) await gate.audit.append("action.end", { at });
};

try {
  // What is tried out once is no part of an action.
  await whole();
  await child();
  const times: Record<"whole" | "child" | "bare" | "records", number[]> = {
    whole: [],
    child: [],
    bare: [],
    records: [],
  };
  for (let round = 0; round < ROUNDS; round++) {
    // By turns, so that all see the same machine.
    times.whole.push(await timed(whole));
    times.child.push(await timed(child));
    times.bare.push(await timed(bare));
    times.records.push(await timed(records));
  }
  const where = confined ? "in the sandbox" : `without a sandbox (${reason})`;
  const figures = [
    { name: "a bare deno", value: median(times.bare), unit: "ms" },
    { name: "two records", value: median(times.records), unit: "ms" },
    { name: `a child ${where}`, value: median(times.child), unit: "ms" },
    {
      name: "a file action, end to end",
      value: median(times.whole),
      unit: "ms",
      aim: { atMost: AIM_MS },
    },
  ];
  if (!report("file_action", figures, { json: Deno.args.includes("--json") })) Deno.exitCode = 1;
} finally {
  await executor.shutdown();
}
