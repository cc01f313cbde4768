// deno-lint-ignore-file no-console -- a program whose output is what it is for
/**
 * A long run under load: many streams at once, a part of them left early by their client, then a
 * drain. Fails when an answer is wrong, a turn stays open, or memory keeps growing.
 *
 * `deno task soak [--seconds 60] [--connections 1000]`; loopback only.
 *
 * @module
 */

import { parseArgs } from "@std/cli/parse-args";
import { residentMb, startModel, startService } from "./processes.ts";

const args = parseArgs(Deno.args, { string: ["seconds", "connections"] });
const seconds = Number(args.seconds ?? 60);
const connections = Number(args.connections ?? 1_000);

await using model = await startModel(50);
await using service = await startService(model.line);
const endAt = Date.now() + seconds * 1000;
const counts = { whole: 0, left: 0, refused: 0, wrong: 0 };

/** One stream after the other; every fourth is left in the middle. */
async function client(lane: number): Promise<void> {
  for (let n = 0; Date.now() < endAt; n++) {
    const leave = (lane + n) % 4 === 0;
    const response = await fetch(`${service.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        messages: [{ role: "user", content: "hi" }],
        stream: true,
        session_id: `soak-${lane}`,
      }),
    });
    if (response.status === 429) {
      counts.refused++;
      await response.body?.cancel();
      continue;
    }
    if (leave) {
      const reader = response.body!.getReader();
      await reader.read();
      await reader.cancel();
      counts.left++;
      continue;
    }
    const text = await response.text();
    if (response.status === 200 && text.endsWith("data: [DONE]\n\n")) counts.whole++;
    else {
      counts.wrong++;
      console.error(`${response.status}: ${text.slice(-300)}`);
    }
  }
}

const memory: number[] = [];
const watch = setInterval(async () => {
  memory.push(await residentMb(service.pid));
  const left = Math.max(0, Math.round((endAt - Date.now()) / 1000));
  console.log(`${left} s left, ${memory.at(-1)!.toFixed(0)} MB, ${JSON.stringify(counts)}`);
}, 5_000);
await Promise.all(Array.from({ length: connections }, (_, lane) => client(lane)));
clearInterval(watch);

const ready = await fetch(`${service.url}/ready`);
const settled = memory[Math.floor(memory.length / 2)] ?? NaN;
const last = memory.at(-1) ?? NaN;
console.log(
  `ready ${ready.status}; memory ${settled.toFixed(0)} MB half way, ${
    last.toFixed(0)
  } MB at the end`,
);
const failed = counts.wrong > 0 || counts.whole === 0 || ready.status !== 200 ||
  last > settled * 1.5;
console.log(failed ? "FAILED" : "passed");
Deno.exitCode = failed ? 1 : 0;
