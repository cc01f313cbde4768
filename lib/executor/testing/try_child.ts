/**
 * A child that tries what its arguments say, and tells how it went; for tests of what a child can do.
 *
 * @module
 */

import { type ChildRun, serveChild } from "../serve_child.ts";

let calls = 0;
let isBusy = false;

const TRIES: Record<string, (argument: string) => unknown> = {
  read: (path) => Deno.readTextFileSync(path),
  list: (path) => [...Deno.readDirSync(path)].map(({ name }) => name),
  write: (path) => Deno.writeTextFileSync(path, "x"),
  connect: async (address) => {
    const { hostname, port } = new URL(`http://${address}`);
    (await Deno.connect({ hostname, port: Number(port) })).close();
  },
  lookUp: (name) => Deno.resolveDns(name, "A"),
  run: (path) => new Deno.Command(path).outputSync(),
  env: (name) => Deno.env.get(name) ?? null,
  import: (specifier) => import(specifier),
  ffi: (path) => Deno.dlopen(path, {}),
  /** How often this process was asked that, one call at a time. */
  count: async () => {
    if (isBusy) throw new Error("two at a time");
    isBusy = true;
    await new Promise((resolve) => setTimeout(resolve));
    isBusy = false;
    return ++calls;
  },
  hang: () => new Promise(() => setInterval(() => {}, 1_000)),
  spin: () => {
    for (;;);
  },
  eat: () => {
    const kept: unknown[] = [];
    for (;;) kept.push(new Array(1_000_000).fill(kept.length));
  },
  die: () => Deno.exit(9),
  kill: () => Deno.kill(Deno.pid, "SIGKILL"),
  say: (text) => Deno.stdout.writeSync(new TextEncoder().encode(text)),
  flood: () => {
    const bytes = new Uint8Array(1024 * 1024);
    for (;;) Deno.stdout.writeSync(bytes);
  },
};

/** Runs `args.tries`, pairs of a name and its argument, in order; the last outcomes as JSON. */
export const run: ChildRun = async ({ task, progress }) => {
  const { tries } = task.args as { tries: [string, string][] };
  const outcomes: unknown[] = [];
  for (const [name, argument] of tries) {
    progress(name);
    try {
      outcomes.push({ ok: await TRIES[name]!(argument) ?? null });
    } catch (error) {
      outcomes.push({ error: (error as Error).name });
    }
  }
  return { type: "result", output: JSON.stringify(outcomes) };
};

if (import.meta.main) serveChild(run);
