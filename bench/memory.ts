/**
 * Memory of the idle service, and its growth over 10,000 turns, an eighth of them in one session.
 *
 * `deno run -A --cached-only --lock=deno.lock --frozen bench/memory.ts [--json] [--turns N]`
 *
 * @module
 */

import { parseArgs } from "@std/cli/parse-args";
import { residentMb, startModel, startService } from "./processes.ts";
import { type Figure, report } from "./report.ts";

const turns = Number(parseArgs(Deno.args, { string: ["turns"] }).turns ?? 10_000);

await using model = await startModel(10);
await using service = await startService(model.line);
const idle = await residentMb(service.pid);

let done = 0;
async function run(until: number): Promise<void> {
  await Promise.all(Array.from({ length: 8 }, async (_, lane) => {
    while (done < until) {
      const n = done++;
      const response = await fetch(`${service.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          messages: [{ role: "user", content: `turn ${n}` }],
          session_id: lane === 0 ? "long" : `short-${n}`,
        }),
      });
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
    }
  }));
}

const figures: Figure[] = [{ name: "idle", value: idle, unit: "MB", aim: { atMost: 150 } }];
await run(turns / 10);
const settled = await residentMb(service.pid);
for (let step = 2; step <= 10; step++) {
  await run(turns / 10 * step);
  figures.push({
    name: `after ${turns / 10 * step} turns`,
    value: await residentMb(service.pid),
    against: { name: "after the first tenth", value: settled },
    unit: "MB",
    aim: step === 10 ? { atMost: 1.1 } : undefined,
  });
}
report(`memory over ${turns} turns`, figures, { json: Deno.args.includes("--json") });
