/**
 * A command that does nothing, in its sandbox, against the same one started bare: what the sandbox
 * costs. Bound: 15 ms above. The same with hosts, whose proxy and relay are processes
 * of their own.
 *
 * `deno run -A --cached-only --lock=deno.lock --frozen bench/exec.ts [--json]`
 *
 * @module
 */

import { type CommandRun, createCommands } from "../lib/executor/commands.ts";
import { createExecutor } from "../lib/executor/executor.ts";
import { openNetwork } from "../lib/executor/network/open_network.ts";
import { median, report } from "./report.ts";

const ROUNDS = 40;
const AIM_MS = 15;
/** Two small Denos, one after the other. */
const NETWORK_AIM_MS = 200;

const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "service-bench-" }));
const workspace = `${folder}/workspace`;
await Deno.mkdir(workspace);
const silent = () => {};
const log = { debug: silent, info: silent, warning: silent, error: silent };
const executor = createExecutor({ cacheDir: `${folder}/cache`, log });
const commands = createCommands({
  config: { maxOutputBytes: 100_000, allowUnconfined: false },
  workspace,
  own: () => Promise.resolve({ ownPaths: [], sourcePaths: [] }),
  scratchDir: folder,
  onTested: () => Promise.resolve(),
  log,
});

async function timed(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

async function sandboxed(openNetwork?: CommandRun["openNetwork"]): Promise<void> {
  const target = { kind: "command", argv: ["true"], program: "/usr/bin/true", cwd: workspace };
  const end = await commands.run({ ...target, kind: "command" }, {
    timeoutMs: 10_000,
    signal: new AbortController().signal,
    onProgress: () => {},
    openNetwork,
  });
  if (end.type !== "exited" || end.code !== 0) throw new Error(JSON.stringify(end));
}

/** As the gate runs a command with hosts. */
async function networked(): Promise<void> {
  await sandboxed(() =>
    openNetwork({
      executor,
      audit: { append: () => Promise.reject(new Error("nothing is reached here")) },
      privateHosts: [],
      listeners: () => ({ ports: [], addresses: [] }),
      socketDir: folder,
      log,
    }, { hosts: ["registry.example"], user: { kind: "mcp", server: "bench" } })
  );
}

const bare = () => new Deno.Command("/usr/bin/true", { stdin: "null" }).output();

try {
  const { ok, reason } = await commands.report();
  if (ok) {
    await networked();
    const times = { sandboxed: [] as number[], networked: [] as number[], bare: [] as number[] };
    for (let round = 0; round < ROUNDS; round++) {
      // By turns, so that both see the same machine.
      times.sandboxed.push(await timed(() => sandboxed()));
      times.networked.push(await timed(networked));
      times.bare.push(await timed(bare));
    }
    const above = median(times.sandboxed) - median(times.bare);
    const network = median(times.networked) - median(times.sandboxed);
    const figures = [
      { name: "bare `true`", value: median(times.bare), unit: "ms" },
      { name: "`true` in the sandbox", value: median(times.sandboxed), unit: "ms" },
      { name: "what the sandbox costs", value: above, unit: "ms", aim: { atMost: AIM_MS } },
      { name: "`true` with hosts", value: median(times.networked), unit: "ms" },
      { name: "what hosts cost", value: network, unit: "ms", aim: { atMost: NETWORK_AIM_MS } },
    ];
    if (!report("exec", figures, { json: Deno.args.includes("--json") })) Deno.exitCode = 1;
  } else {
    Deno.stderr.writeSync(new TextEncoder().encode(`exec: not measured: ${reason}\n`));
  }
} finally {
  await commands.shutdown();
  await executor.shutdown();
  await Deno.remove(folder, { recursive: true });
}
