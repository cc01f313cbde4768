/**
 * Streams of 500 tokens of the service beside those of a bare proxy in front of the same model, at
 * 1, 16 and 64 in parallel: tokens a second, processor time of a token, delay of the first one.
 *
 * The model writes each token by itself and as fast as the reader takes it. The client speaks HTTP
 * over a plain socket, so that it is not what is measured, and counts: a stream that does not bring
 * one delta for each token of the model is an error and no figure.
 *
 * `deno run -A --cached-only bench/streams.ts [--json] [--rounds 5]`
 *
 * @module
 */

import { parseArgs } from "@std/cli/parse-args";
import { cpuSeconds, start, startProxy, startService } from "./processes.ts";
import { type Figure, median, report } from "./report.ts";

const TOKENS = 500;
const DELTA = '"content":"hi"';

const args = parseArgs(Deno.args, { string: ["rounds"] });
const rounds = Number(args.rounds ?? 5);
const encoder = new TextEncoder();
let asked = 0;

/** Reads one stream to its end; returns the milliseconds until its first token. */
async function stream(base: URL): Promise<number> {
  const body = JSON.stringify({
    model: "local/fake",
    messages: [{ role: "user", content: "hi" }],
    stream: true,
    // Every request a session of its own: what is measured is a turn, not waiting for one.
    session_id: `bench-${asked++}`,
  });
  const startedAt = performance.now();
  using connection = await Deno.connect({ hostname: base.hostname, port: Number(base.port) });
  await connection.write(encoder.encode(
    `POST ${base.pathname}/chat/completions HTTP/1.1\r\nHost: ${base.host}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  ));
  const buffer = new Uint8Array(64 * 1024);
  const decoder = new TextDecoder();
  let text = "";
  let firstMs: number | undefined;
  for (let read; (read = await connection.read(buffer)) !== null;) {
    text += decoder.decode(buffer.subarray(0, read), { stream: true });
    if (firstMs === undefined && text.includes(DELTA)) firstMs = performance.now() - startedAt;
  }
  // Without the frames of the transfer coding, which may stand in the middle of a delta.
  const events = text.replace(/\r\n[0-9a-f]+\r\n/g, "");
  const deltas = events.split(DELTA).length - 1;
  if (deltas !== TOKENS || firstMs === undefined || !events.endsWith("data: [DONE]\n\n\r\n")) {
    throw new Error(`Wanted ${TOKENS} deltas and an end, got ${deltas}: ${events.slice(-500)}`);
  }
  return firstMs;
}

interface Sample {
  tokensPerS: number;
  cpuUsPerToken: number;
  firstMs: number;
}

/** Runs `total` streams, `parallel` at a time. */
async function sample(
  { url, pid }: { url: string; pid: number },
  parallel: number,
  total: number,
): Promise<Sample> {
  const base = new URL(url);
  const firsts: number[] = [];
  const cpuBefore = cpuSeconds(pid);
  const startedAt = performance.now();
  let left = total;
  await Promise.all(Array.from({ length: parallel }, async () => {
    while (left-- > 0) firsts.push(await stream(base));
  }));
  const tokens = total * TOKENS;
  return {
    tokensPerS: tokens / (performance.now() - startedAt) * 1_000,
    cpuUsPerToken: (cpuSeconds(pid) - cpuBefore) / tokens * 1e6,
    firstMs: median(firsts),
  };
}

await using model = await start(
  ["run", "-q", "-A", "--cached-only", "bench/token_model.ts", String(TOKENS)],
);
await using bare = await startProxy(model.line);
await using started = await startService(model.line);
const subjects = {
  proxy: { url: bare.line, pid: bare.pid },
  service: { url: `${started.url}/v1`, pid: started.pid },
};
for (const subject of Object.values(subjects)) await sample(subject, 16, 96);

const figures: Figure[] = [];
for (const parallel of [1, 16, 64]) {
  const total = parallel === 1 ? 40 : 128;
  const samples = { proxy: [] as Sample[], service: [] as Sample[] };
  for (let round = 0; round < rounds; round++) {
    for (const name of ["proxy", "service"] as const) {
      samples[name].push(await sample(subjects[name], parallel, total));
    }
  }
  const compare = (what: keyof Sample, name: string, unit: string, aim?: Figure["aim"]): Figure => {
    const of = (name: "proxy" | "service") => median(samples[name].map((one) => one[what]));
    return {
      name: `${parallel} in parallel, ${name}`,
      value: of("service"),
      against: { name: `proxy, ${of("proxy").toPrecision(3)}`, value: of("proxy") },
      unit,
      aim,
    };
  };
  figures.push(
    compare("tokensPerS", "tokens", "1/s", { atLeast: 0.5 }),
    compare("cpuUsPerToken", "processor time of a token", "us"),
    compare("firstMs", "first token", "ms"),
  );
}
const met = report(`streams of ${TOKENS} tokens beside a bare proxy`, figures, {
  json: Deno.args.includes("--json"),
});
Deno.exitCode = met ? 0 : 1;
