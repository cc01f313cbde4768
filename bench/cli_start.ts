/**
 * Start of the command line beside `deno eval 1`: `service --version`, and a whole
 * `service agent -m hi` over a model that answers at once, alone and beside a service that runs.
 *
 * `deno run -A --cached-only --lock=deno.lock --frozen bench/cli_start.ts [--json]`
 *
 * @module
 */

import { RUN_FLAGS } from "../tests/support/home.ts";
import { makeBenchHome, start, startModel } from "./processes.ts";
import { median, report } from "./report.ts";

const ROOT = new URL("../", import.meta.url).pathname;

await using model = await startModel(10);
const home = await makeBenchHome(model.line);

async function time(args: string[]): Promise<number> {
  const startedAt = performance.now();
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd: ROOT,
    env: { SERVICE_HOME: home },
    stdin: "null",
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return performance.now() - startedAt;
}

const commands = {
  base: ["eval", "1"],
  version: [...RUN_FLAGS, "cli/main.ts", "--version"],
  agent: [...RUN_FLAGS, "cli/main.ts", "agent", "-m", "hi"],
};
const times = { base: [] as number[], version: [] as number[], agent: [] as number[] };
for (const args of Object.values(commands)) await time(args);
for (let n = 0; n < 15; n++) {
  for (const name of ["base", "version", "agent"] as const) {
    times[name].push(await time(commands[name]));
  }
}
const beside: number[] = [];
{
  const serve = [...RUN_FLAGS, "cli/main.ts", "serve", "--port", "0"];
  await using _running = await start(serve, { SERVICE_HOME: home });
  for (let n = 0; n < 15; n++) beside.push(await time(commands.agent));
}
await Deno.remove(home, { recursive: true });
const against = { name: "deno eval 1", value: median(times.base) };
report("start of the command line", [
  {
    name: "service --version",
    value: median(times.version),
    unit: "ms",
    against,
    aim: { atMost: 3 },
  },
  {
    name: "service agent -m hi",
    value: median(times.agent),
    unit: "ms",
    against,
    aim: { atMost: 12 },
  },
  {
    name: "service agent -m hi, beside a service",
    value: median(beside),
    unit: "ms",
    against,
    aim: { atMost: 5 },
  },
], { json: Deno.args.includes("--json") });
