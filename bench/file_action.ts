/**
 * Actions of the file tools end to end: resolved, decided, recorded, run in the sandbox, recorded again. The
 * first of a turn starts the worker that the others share. Bounds: 50 ms for the first, 10 ms for each other,
 * a second for a hundred of them.
 *
 * Beside them the same action in a process of its own, without gate and record, the two records alone, and the
 * start of a Deno that does nothing, which no cold child can beat.
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
import { type Figure, median, report } from "./report.ts";

const ROUNDS = 20;
const FIRST_AIM_MS = 50;
const AIM_MS = 10;
const HUNDRED_AIM_MS = 1_000;

const silent = () => {};
const log = { debug: silent, info: silent, warning: silent, error: silent };
await using gate = await gateFixture();
const { workspace } = gate;
const executor = createExecutor({ cacheDir: `${gate.root}/cache`, log });
const args = { path: "notes.md" };
for (const name of ["notes.md", "made.md"]) {
  await Deno.writeTextFile(`${workspace}/${name}`, "a line\n".repeat(100));
}
const { confined, reason } = await executor.confinement();

async function timed(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

let turn = 0;

async function act(tool: string, args: unknown): Promise<void> {
  const result = await gate.act(tool, args, { context: { turnId: `turn-${turn}` } });
  if (result.status !== "ok") throw new Error(result.output);
}

const first = () => {
  gate.actions.turnEnded(`turn-${turn++}`);
  return act("read_file", args);
};

/** Those that a turn makes after its first one. */
const later: Record<string, () => Promise<void>> = {
  read_file: () => act("read_file", args),
  list_files: () => act("list_files", {}),
  search_files: () => act("search_files", { pattern: "line" }),
  write_file: () => act("write_file", { path: "made.md", content: "another line\n" }),
};

async function alone(): Promise<void> {
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
  await first();
  await alone();
  const rows: Record<string, { run: () => Promise<unknown>; atMost?: number }> = {
    "a bare deno": { run: bare },
    "two records": { run: records },
    [`a process ${confined ? "in the sandbox" : `without a sandbox (${reason})`}`]: { run: alone },
    "the first of a turn": { run: first, atMost: FIRST_AIM_MS },
    ...Object.fromEntries(
      Object.entries(later).map(([name, run]) => [`then ${name}`, { run, atMost: AIM_MS }]),
    ),
  };
  const times = new Map(Object.keys(rows).map((name) => [name, [] as number[]]));
  for (let round = 0; round < ROUNDS; round++) {
    // By turns, so that all see the same machine.
    for (const [name, { run }] of Object.entries(rows)) {
      times.get(name)!.push(await timed(run));
      // The first that writes starts a worker too.
      if (run === first) await later.write_file!();
    }
  }
  await first();
  const hundred = await timed(async () => {
    for (let read = 0; read < 100; read++) await act("read_file", args);
  });
  const figures: Figure[] = [
    ...Object.entries(rows).map(([name, { atMost }]) => ({
      ...{ name, value: median(times.get(name)!), unit: "ms" },
      ...atMost !== undefined && { aim: { atMost } },
    })),
    { name: "a hundred reads", value: hundred, unit: "ms", aim: { atMost: HUNDRED_AIM_MS } },
  ];
  if (!report("file_action", figures, { json: Deno.args.includes("--json") })) Deno.exitCode = 1;
} finally {
  await executor.shutdown();
}
