/**
 * Streams of 500 tokens of the service beside those of a bare proxy in front of the same model, at
 * 1, 16 and 64 in parallel: tokens a second, processor time of a token, delay of the first one.
 *
 * The model writes each token by itself: as fast as it is read, and then at 200 tokens a second in
 * every stream, which is faster than most. The bare proxy runs no JavaScript for a token, so at full
 * speed there is a second one, of the provider's package and nothing else, that says what is left to
 * be saved. The client speaks HTTP over a plain socket, so that it is not what is measured, and counts:
 * a stream that does not bring one delta for each token of the model is an error and no figure.
 *
 * `deno run -A --cached-only --lock=deno.lock --frozen bench/streams.ts [--json] [--rounds 3]`
 *
 * @module
 */

import { parseArgs } from "@std/cli/parse-args";
import { cpuSeconds, start, startProxy, startService } from "./processes.ts";
import { type Figure, median, report } from "./report.ts";
import { lockedFlags } from "../lib/packages/locked_packages.ts";

const TOKENS = 500;
const TOKEN_EVERY_MS = 5;
const DELTA = '"content":"hi"';

const args = parseArgs(Deno.args, { string: ["rounds"] });
const rounds = Number(args.rounds ?? 3);
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
  { url, pid }: Subject,
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

interface Subject {
  url: string;
  pid: number;
}

/** Takes turns over the subjects; the median of each figure of each. */
async function compare<Name extends string>(
  subjects: Record<Name, Subject>,
  parallel: number,
  total: number,
): Promise<Record<Name, Sample>> {
  const names = Object.keys(subjects) as Name[];
  const samples = new Map(names.map((name): [Name, Sample[]] => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of names) {
      samples.get(name)!.push(await sample(subjects[name], parallel, total));
    }
  }
  const middle = (name: Name): Sample => {
    const of = (what: keyof Sample) => median(samples.get(name)!.map((one) => one[what]));
    return {
      tokensPerS: of("tokensPerS"),
      cpuUsPerToken: of("cpuUsPerToken"),
      firstMs: of("firstMs"),
    };
  };
  return Object.fromEntries(names.map((name) => [name, middle(name)])) as Record<Name, Sample>;
}

/** Starts a token model, what stands in front of it, and warms everything up. */
async function startAll(everyMs: number) {
  await using stack = new AsyncDisposableStack();
  const program = ["run", "-q", "-A", "--cached-only", ...lockedFlags()];
  const model = stack.use(
    await start([...program, "bench/token_model.ts", String(TOKENS), String(everyMs)]),
  );
  const bare = stack.use(await startProxy(model.line));
  const packaged = stack.use(await start([...program, "bench/package_proxy.ts", model.line]));
  const service = stack.use(await startService(model.line));
  const subjects = {
    proxy: { url: bare.line, pid: bare.pid },
    packaged: { url: packaged.line, pid: packaged.pid },
    service: { url: `${service.url}/v1`, pid: service.pid },
  };
  for (const subject of Object.values(subjects)) await sample(subject, 16, everyMs > 0 ? 16 : 128);
  const owned = stack.move();
  return { subjects, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function figure(
  name: string,
  what: keyof Sample,
  samples: { service: Sample; proxy: Sample },
  aim?: Figure["aim"],
): Figure {
  const unit = { tokensPerS: "1/s", cpuUsPerToken: "us", firstMs: "ms" }[what];
  const value = samples.proxy[what];
  const against = { name: `proxy, ${value.toPrecision(3)} ${unit}`, value };
  return { name, value: samples.service[what], unit, against, aim };
}

const figures: Figure[] = [];
{
  await using all = await startAll(0);
  for (const parallel of [1, 16, 64]) {
    const { proxy, packaged, service } = await compare(
      all.subjects,
      parallel,
      parallel === 1 ? 40 : 128,
    );
    const name = `${parallel} at full speed`;
    figures.push(
      figure(`${name}, tokens`, "tokensPerS", { service, proxy }, { atLeast: 0.5 }),
      {
        name: `${name}, tokens`,
        value: service.tokensPerS,
        unit: "1/s",
        against: {
          name: `package alone, ${packaged.tokensPerS.toPrecision(3)} 1/s`,
          value: packaged.tokensPerS,
        },
      },
      figure(`${name}, processor time of a token`, "cpuUsPerToken", { service, proxy }),
      figure(`${name}, first token`, "firstMs", { service, proxy }),
    );
  }
}
{
  await using all = await startAll(TOKEN_EVERY_MS);
  const { packaged: _, ...subjects } = all.subjects;
  for (const parallel of [1, 16, 64]) {
    const samples = await compare(subjects, parallel, parallel);
    const name = `${parallel} at ${1_000 / TOKEN_EVERY_MS} tokens/s each`;
    figures.push(
      figure(`${name}, tokens`, "tokensPerS", samples, { atLeast: 0.5 }),
      figure(`${name}, processor time of a token`, "cpuUsPerToken", samples),
      figure(`${name}, first token`, "firstMs", samples),
    );
  }
}
report(`streams of ${TOKENS} tokens beside a bare proxy`, figures, {
  json: Deno.args.includes("--json"),
});
