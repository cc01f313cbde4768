/**
 * The processes that a bench needs beside itself: a model server, a bare proxy in front of it, and
 * the service, each on its own, so that none shares a thread with another.
 *
 * @module
 */

import { TextLineStream } from "@std/streams/text-line-stream";
import { RUN_FLAGS } from "../tests/support/home.ts";
import { lockedFlags } from "../lib/packages/locked_packages.ts";

const ROOT = new URL("../", import.meta.url).pathname;

/** A process that has printed its first line. */
export interface Started extends AsyncDisposable {
  line: string;
  pid: number;
}

/** Starts `deno <args>` and waits for its first line. */
export async function start(args: string[], env: Record<string, string> = {}): Promise<Started> {
  const child = new Deno.Command(Deno.execPath(), {
    args,
    cwd: ROOT,
    env,
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const lines = child.stdout
    .pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream()).getReader();
  const { value, done } = await lines.read();
  if (done) throw new Error(`deno ${args.join(" ")} ended before it printed anything`);
  return {
    line: value,
    pid: child.pid,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
      await lines.cancel();
    },
  };
}

/** The fake model: `tokens` deltas an answer, without delay. Its line is its base URL. */
export function startModel(tokens: number): Promise<Started> {
  const program = `${ROOT}tests/fakes/model_server.ts`;
  return start([
    "run",
    "-q",
    "-A",
    "--cached-only",
    ...lockedFlags(),
    program,
    "--tokens",
    String(tokens),
    "--text",
    "hi",
  ]);
}

/** A bare `Deno.serve` proxy in front of a base URL. Its line is its own. */
export function startProxy(target: string): Promise<Started> {
  return start([
    "run",
    "-q",
    "-A",
    "--cached-only",
    ...lockedFlags(),
    `${ROOT}bench/proxy.ts`,
    target,
  ]);
}

/**
 * The service over a model, in a home of its own; `url` is that of its API. `prepare` is called with
 * the path of the home's database before the service starts.
 */
export async function startService(
  modelUrl: string,
  { prepare }: { prepare?: (database: string) => Promise<void> } = {},
): Promise<AsyncDisposable & { url: string; pid: number; home: string }> {
  const home = await makeBenchHome(modelUrl);
  if (prepare !== undefined) {
    await Deno.mkdir(`${home}/data`, { mode: 0o700 });
    await prepare(`${home}/data/service.db`);
  }
  const started = await start([...RUN_FLAGS, "cli/main.ts", "serve", "--port", "0", "--json"], {
    SERVICE_HOME: home,
  });
  return {
    url: JSON.parse(started.line).apiUrl,
    pid: started.pid,
    home,
    async [Symbol.asyncDispose]() {
      await started[Symbol.asyncDispose]();
      await Deno.remove(home, { recursive: true });
    },
  };
}

/** A home whose model is the fake at `modelUrl`. */
export async function makeBenchHome(modelUrl: string): Promise<string> {
  const home = await Deno.makeTempDir({ prefix: "service-bench-" });
  const config = {
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: modelUrl } },
    log: { level: "error" },
  };
  await Deno.writeTextFile(`${home}/config.json`, JSON.stringify(config));
  return home;
}

/** Resident memory of a process, MB. */
export async function residentMb(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(status.match(/VmRSS:\s+(\d+)/)![1]) / 1024;
}

/** Its share of what a process has in memory (PSS), bytes. */
export function shareBytes(pid: number): number {
  const [, kb] = /^Pss:\s+(\d+)/m.exec(Deno.readTextFileSync(`/proc/${pid}/smaps_rollup`))!;
  return Number(kb) * 1024;
}

/** The same of a process and all that it has started, MB. */
export function sharedMb(pid: number): number {
  const own = shareBytes(pid) / 1024 / 1024;
  return childrenOf(pid).reduce((sum, child) => sum + sharedMb(child), own);
}

/**
 * Processor time that a process and all that it has started have used, all threads together, seconds.
 * What has ended counts once whoever started it has noticed.
 */
export function cpuSeconds(pid: number): number {
  const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
  // Fields are counted behind the name, which may hold blanks; the times are in hundredths.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
  return childrenOf(pid).reduce((sum, child) => sum + cpuSeconds(child), own);
}

/** The processes that a process has started and that run. */
export function childrenOf(pid: number): number[] {
  return [...Deno.readDirSync(`/proc/${pid}/task`)].flatMap(({ name }) =>
    Deno.readTextFileSync(`/proc/${pid}/task/${name}/children`).trim().split(" ")
  ).filter((child) => child !== "").map(Number);
}
