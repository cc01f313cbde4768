/**
 * Chat completions of the service beside a bare proxy in front of the same model: requests a second,
 * not streamed, at 1, 16 and 64 in parallel, and the delay of the first token at 1.
 *
 * `deno run -A --cached-only --lock=deno.lock --frozen bench/chat.ts [--json]`
 *
 * @module
 */

import { askChat } from "./ask_chat.ts";
import { startModel, startProxy, startService } from "./processes.ts";
import { type Figure, median, report } from "./report.ts";

/** Deltas of an answer. */
const TOKENS = 10;

/** Requests a second over `total` of them, `parallel` at a time. */
async function throughput(base: string, parallel: number, total: number): Promise<number> {
  let left = total;
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: parallel }, async () => {
    while (left-- > 0) {
      const response = await askChat(base, false);
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
    }
  }));
  return total / (performance.now() - startedAt) * 1000;
}

/** Milliseconds until the first content of a stream. */
async function firstToken(base: string): Promise<number> {
  const startedAt = performance.now();
  const response = await askChat(base, true);
  let delay = NaN;
  let text = "";
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (Number.isNaN(delay) && /"content":"[^"]/.test(text)) delay = performance.now() - startedAt;
  }
  return delay;
}

await using model = await startModel(TOKENS);
await using proxy = await startProxy(model.line);
await using service = await startService(model.line);
const api = `${service.url}/v1`;
for (const base of [proxy.line, api]) await throughput(base, 16, 1_000);

const figures: Figure[] = [];
for (const parallel of [1, 16, 64]) {
  const total = parallel === 1 ? 500 : 2_000;
  const rounds = { proxy: [] as number[], service: [] as number[] };
  for (let round = 0; round < 3; round++) {
    rounds.proxy.push(await throughput(proxy.line, parallel, total));
    rounds.service.push(await throughput(api, parallel, total));
  }
  figures.push({
    name: `${parallel} in parallel`,
    value: median(rounds.service),
    against: { name: "proxy", value: median(rounds.proxy) },
    unit: "1/s",
    aim: { atLeast: 1 / 3 },
  });
}
const delays = { proxy: [] as number[], service: [] as number[] };
for (let n = 0; n < 300; n++) {
  delays.proxy.push(await firstToken(proxy.line));
  delays.service.push(await firstToken(api));
}
figures.push({
  name: "first token, 1 in parallel",
  value: median(delays.service),
  against: { name: "proxy", value: median(delays.proxy) },
  unit: "ms",
});
figures.push({
  name: "first token, added to the proxy's",
  value: median(delays.service) - median(delays.proxy),
  unit: "ms",
  aim: { atMost: 3 },
});
report("chat completions beside a bare proxy", figures, { json: Deno.args.includes("--json") });
