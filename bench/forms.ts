// deno-lint-ignore-file no-console -- a program whose output is what it is for
/**
 * The forms of the program side by side: from source, built, as the file that unpacks itself, and compiled
 * where its runtime can be had. Prints the table of docs/performance.md; Linux only.
 *
 * `deno run -A --cached-only --lock=deno.lock --frozen bench/forms.ts [--rounds N]`
 *
 * @module
 */

import { parseArgs } from "@std/cli/parse-args";
import { TextLineStream } from "@std/streams/text-line-stream";
import { markdownTable } from "../lib/base/markdown_table.ts";
import { build } from "../release/build.ts";
import { makeCompiled } from "../release/compiled.ts";
import { denoBinary } from "../release/deno_binary.ts";
import { makeSelfExtracting } from "../release/self_extracting.ts";
import { TARGETS } from "../release/targets.ts";
import { programArgs, ROOT } from "../tests/support/home.ts";
import { sharedMb } from "./processes.ts";
import { median } from "./report.ts";

/** One form. */
interface Form {
  name: string;
  /** What starts it. */
  command: readonly string[];
  /** What a user downloads, bytes. */
  size?: number;
}

/** Milliseconds, but for memory. */
interface Figures {
  first: number[];
  later: number[];
  ready: number[];
  megabytes: number[];
}

const rounds = Number(parseArgs(Deno.args, { string: ["rounds"] }).rounds ?? 10);

/** All that a run of a form leaves: its home, and what it unpacks or derives. */
function variables(folder: string, form: Form): Record<string, string> {
  const own = { HOME: folder, PATH: "/usr/bin:/bin", SERVICE_HOME: `${folder}/home` };
  // From source it needs the packages that are there.
  const denoDir = Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`;
  return form.name === "source" ? { ...own, DENO_DIR: denoDir } : own;
}

function command(form: Form, folder: string, ...args: string[]): Deno.Command {
  const [path, ...first] = form.command;
  return new Deno.Command(path!, {
    args: [...first, ...args],
    cwd: folder,
    clearEnv: true,
    env: variables(folder, form),
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  });
}

async function timeAnswer(form: Form, folder: string): Promise<number> {
  const startedAt = performance.now();
  const { success } = await command(form, folder, "agent", "-m", "hi").output();
  if (!success) throw new Error(`${form.name} does not answer`);
  return performance.now() - startedAt;
}

/** Until the gateway is ready, and the memory of all its processes then. */
async function timeGateway(form: Form, folder: string): Promise<[ms: number, megabytes: number]> {
  const startedAt = performance.now();
  const child = command(form, folder, "gateway", "--json").spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream())
    .getReader();
  const { done } = await lines.read();
  const ms = performance.now() - startedAt;
  if (done) throw new Error(`${form.name} serves no gateway`);
  const megabytes = sharedMb(child.pid);
  child.kill("SIGTERM");
  await lines.cancel();
  await child.status;
  return [ms, megabytes];
}

async function sizeOf(path: string): Promise<number> {
  const { isDirectory, size } = await Deno.stat(path);
  if (!isDirectory) return size;
  const entries = await Array.fromAsync(Deno.readDir(path));
  const sizes = await Promise.all(entries.map(({ name }) => sizeOf(`${path}/${name}`)));
  return sizes.reduce((sum, each) => sum + each, 0);
}

async function makeForms(folder: string): Promise<Form[]> {
  const target = TARGETS.find(({ name }) =>
    name === `linux-${Deno.build.arch === "x86_64" ? "x64" : "arm64"}`
  )!;
  const [built, file, compiled] = [`${folder}/built`, `${folder}/service`, `${folder}/compiled`];
  await build(built);
  await makeSelfExtracting(file, { target, built, deno: await denoBinary(target) });
  const problem = await makeCompiled(compiled, { target, built });
  if (problem !== undefined) console.error(`Without the compiled form: ${problem}`);
  return [
    { name: "source", command: [Deno.execPath(), ...programArgs(ROOT)] },
    {
      name: "built (without Deno)",
      command: [Deno.execPath(), ...programArgs(`${built}/`)],
      size: await sizeOf(built),
    },
    { name: "self-extracting file", command: [file], size: await sizeOf(file) },
    ...problem === undefined
      ? [{ name: "compiled binary", command: [compiled], size: await sizeOf(compiled) }]
      : [],
  ];
}

async function measure(forms: readonly Form[], folder: string): Promise<Map<Form, Figures>> {
  const found = new Map<Form, Figures>();
  for (const form of forms) found.set(form, { first: [], later: [], ready: [], megabytes: [] });
  // One after the other in each round, so that whatever else the machine does meets them alike.
  for (let round = 0; round < rounds; round++) {
    for (const [form, figures] of found) {
      const own = `${folder}/${crypto.randomUUID()}`;
      await Deno.mkdir(`${own}/home`, { recursive: true, mode: 0o700 });
      await Deno.writeTextFile(
        `${own}/home/config.json`,
        JSON.stringify({ channels: { websocket: { port: 0 } } }),
      );
      figures.first.push(await timeAnswer(form, own));
      figures.later.push(await timeAnswer(form, own));
      // The first start of a gateway derives what later ones find.
      await timeGateway(form, own);
      const [ms, megabytes] = await timeGateway(form, own);
      figures.ready.push(ms);
      figures.megabytes.push(megabytes);
      await Deno.remove(own, { recursive: true });
    }
  }
  return found;
}

const folder = await Deno.makeTempDir({ prefix: "forms-" });
try {
  const rows = [["Form", "Size", "First run", "Later run", "Gateway ready", "Memory"]];
  for (const [{ name, size }, figures] of await measure(await makeForms(folder), folder)) {
    const ms = (values: number[]) => `${median(values).toFixed(0)} ms`;
    rows.push([
      name,
      size === undefined ? "–" : `${(size / 1e6).toFixed(1)} MB`,
      ...[figures.first, figures.later, figures.ready].map(ms),
      `${median(figures.megabytes).toFixed(0)} MB`,
    ]);
  }
  console.log(markdownTable(rows));
} finally {
  await Deno.remove(folder, { recursive: true });
}
