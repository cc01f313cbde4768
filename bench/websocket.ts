/**
 * The WebSocket port beside a bare `ws` server on the same stack: handshakes, turns, one chat read by
 * many, memory of idle connections, and how much later than the model a delta comes.
 *
 * The clients are this process, the same for both. A figure is thrown away with an error when what came
 * is not what had to come.
 *
 * `deno run -A --cached-only --lock=deno.lock --frozen bench/websocket.ts [--json] [--rounds 3] [--idle 5000] [--readers 500]`
 *
 * @module
 */

import { parseArgs } from "@std/cli/parse-args";
// @ts-types="@types/ws"
import { WebSocket } from "ws";
import { RUN_FLAGS } from "../tests/support/home.ts";
import { makeBenchHome, residentMb, start, type Started, startModel } from "./processes.ts";
import { type Figure, median, report } from "./report.ts";
import { lockedFlags } from "../lib/packages/locked_packages.ts";

const args = parseArgs(Deno.args, { string: ["rounds", "idle", "readers"] });
const rounds = Number(args.rounds ?? 3);
const idle = Number(args.idle ?? 5_000);
const readers = Number(args.readers ?? 500);
const figures: Figure[] = [];

interface Frame {
  event: string;
  chat_id?: string;
  text?: string;
  seq?: number;
}

/** The gateway over a model, without tokens: their cost is that of one comparison. */
async function startGateway(modelUrl: string): Promise<Started> {
  const home = await makeBenchHome(modelUrl);
  const config = JSON.parse(await Deno.readTextFile(`${home}/config.json`));
  config.channels = {
    websocket: { port: 0, websocketRequiresToken: false, maxConnectionsPerAddress: 100_000 },
  };
  await Deno.writeTextFile(`${home}/config.json`, JSON.stringify(config));
  const started = await start([...RUN_FLAGS, "cli/main.ts", "gateway", "--json"], {
    SERVICE_HOME: home,
  });
  return {
    ...started,
    line: JSON.parse(started.line).wsUrl,
    async [Symbol.asyncDispose]() {
      await started[Symbol.asyncDispose]();
      await Deno.remove(home, { recursive: true });
    },
  };
}

function open(url: string): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    socket.once("open", () => resolve(socket));
    socket.once("error", reject);
  });
}

/** Opens with its first frame, which comes in the same moment. */
function openReady(url: string): Promise<{ socket: WebSocket; chatId: string }> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    socket.once("message", (data) => {
      resolve({ socket, chatId: (JSON.parse(String(data)) as Frame).chat_id! });
    });
    socket.once("error", reject);
  });
}

async function parallel(total: number, lanes: number, run: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  let left = total;
  await Promise.all(Array.from({ length: lanes }, async () => {
    while (left-- > 0) await run();
  }));
  return total / (performance.now() - startedAt) * 1_000;
}

const handshakes = (url: string) =>
  parallel(2_000, 16, async () => {
    const socket = await open(url);
    socket.terminate();
  });

/** Messages sent and answered, one at a time on each of 16 connections. */
async function turns(
  url: string,
  isOver: (frame: Frame) => boolean,
  message: (chatId: string) => string,
): Promise<number> {
  const sockets = await Promise.all(
    Array.from({ length: 16 }, () => isBare(url) ? openBare(url) : openReady(url)),
  );
  const free = [...sockets];
  const rate = await parallel(400, 16, async () => {
    const own = free.pop()!;
    await new Promise<void>((resolve) => {
      const take = (data: unknown) => {
        if (!isOver(JSON.parse(String(data)))) return;
        own.socket.off("message", take);
        resolve();
      };
      own.socket.on("message", take);
      own.socket.send(message(own.chatId));
    });
    free.push(own);
  });
  for (const { socket } of sockets) socket.terminate();
  return rate;
}

const bareUrls = new Set<string>();
const isBare = (url: string) => bareUrls.has(url);
const openBare = async (url: string) => ({ socket: await open(url), chatId: "bare" });

async function alternate(
  measure: Record<"service" | "bare", () => Promise<number>>,
): Promise<{ service: number; bare: number }> {
  const samples = { service: [] as number[], bare: [] as number[] };
  for (let round = 0; round <= rounds; round++) {
    for (const name of ["bare", "service"] as const) {
      const value = await measure[name]();
      // The first round warms up.
      if (round > 0) samples[name].push(value);
    }
  }
  return { service: median(samples.service), bare: median(samples.bare) };
}

function figure(
  name: string,
  unit: string,
  { service, bare }: { service: number; bare: number },
  aim?: Figure["aim"],
): Figure {
  const against = { name: `bare ws, ${bare.toPrecision(3)} ${unit}`, value: bare };
  return { name, value: service, unit, against, aim };
}

/** Deltas a second that reach all readers of one chat together. */
async function fanOut(url: string): Promise<number> {
  const writer = await openReady(url);
  const others = await Promise.all(Array.from({ length: readers }, () => openReady(url)));
  const ends: Promise<number>[] = [];
  for (const { socket } of others) {
    const attached = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<number>();
    let deltas = 0;
    socket.on("message", (data) => {
      const text = String(data);
      if (text.includes('"attached"')) attached.resolve();
      else if (text.includes('"delta"')) deltas += JSON.parse(text).text.length / 2;
      else if (text.includes('"turn_end"')) ended.resolve(deltas);
    });
    socket.send(JSON.stringify({ type: "attach", chat_id: writer.chatId }));
    await attached.promise;
    ends.push(ended.promise);
  }
  const startedAt = performance.now();
  writer.socket.send(
    JSON.stringify({ type: "message", chat_id: writer.chatId, content: "hi" }),
  );
  const counts = await Promise.all(ends);
  const rate = counts.reduce((sum, count) => sum + count, 0) / (performance.now() - startedAt) *
    1_000;
  if (new Set(counts).size !== 1) throw new Error(`Readers saw ${[...new Set(counts)]} deltas`);
  for (const { socket } of [writer, ...others]) socket.terminate();
  return rate;
}

/** The same number of messages, from one to all. */
async function bareFanOut(url: string): Promise<number> {
  const sockets = await Promise.all(Array.from({ length: readers }, () => open(url)));
  const text = `*${JSON.stringify({ event: "delta", chat_id: "x", text: "hi", seq: 1 })}`;
  const ends = sockets.map((socket) =>
    new Promise<void>((resolve) => {
      let seen = 0;
      socket.on("message", () => ++seen === TOKENS && resolve());
    })
  );
  const startedAt = performance.now();
  for (let sent = 0; sent < TOKENS; sent++) sockets[0]!.send(text);
  await Promise.all(ends);
  const rate = readers * TOKENS / (performance.now() - startedAt) * 1_000;
  for (const socket of sockets) socket.terminate();
  return rate;
}

/**
 * Memory that an idle connection takes beside the first thousand, KiB: with those a heap grows once to the
 * size at which it looks for garbage.
 */
async function idleKib({ line, pid }: Started): Promise<number> {
  const sockets = await openMany(line, 1_000);
  const before = await residentMb(pid);
  sockets.push(...await openMany(line, idle));
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const after = await residentMb(pid);
  for (const socket of sockets) socket.terminate();
  return (after - before) * 1024 / idle;
}

async function openMany(url: string, count: number): Promise<WebSocket[]> {
  const sockets: WebSocket[] = [];
  while (sockets.length < count) {
    sockets.push(...await Promise.all(Array.from({ length: 100 }, () => openAny(url))));
  }
  return sockets;
}

const openAny = async (url: string) =>
  isBare(url) ? await open(url) : (await openReady(url)).socket;

const TOKENS = 200;
{
  await using model = await startModel(TOKENS);
  await using gateway = await startGateway(model.line);
  await using bare = await start([
    "run",
    "-q",
    "-A",
    "--cached-only",
    ...lockedFlags(),
    "bench/bare_ws.ts",
  ]);
  bareUrls.add(bare.line);
  figures.push(figure(
    "handshakes",
    "1/s",
    await alternate({
      service: () => handshakes(gateway.line),
      bare: () => handshakes(bare.line),
    }),
  ));
  figures.push(figure(
    `turns of ${TOKENS} tokens (bare: one echo)`,
    "1/s",
    await alternate({
      service: () =>
        turns(
          gateway.line,
          ({ event }) => event === "turn_end",
          (chat_id) => JSON.stringify({ type: "message", chat_id, content: "hi" }),
        ),
      bare: () => turns(bare.line, () => true, () => JSON.stringify({ event: "echo" })),
    }),
  ));
  figures.push(figure(
    `deltas to ${readers} readers of one chat`,
    "1/s",
    await alternate({ service: () => fanOut(gateway.line), bare: () => bareFanOut(bare.line) }),
  ));
}
{
  await using model = await startModel(1);
  await using gateway = await startGateway(model.line);
  await using bare = await start([
    "run",
    "-q",
    "-A",
    "--cached-only",
    ...lockedFlags(),
    "bench/bare_ws.ts",
  ]);
  bareUrls.add(bare.line);
  const sample = { bare: await idleKib(bare), service: await idleKib(gateway) };
  figures.push(figure(`memory of each of ${idle} idle connections`, "KiB", sample, {
    atMost: 1.5,
  }));
}
{
  const streams = 100;
  const tokens = 100;
  await using model = await start([
    "run",
    "-q",
    "-A",
    "--cached-only",
    ...lockedFlags(),
    "bench/stamped_model.ts",
    String(tokens),
  ]);
  await using gateway = await startGateway(model.line);
  const now = () => performance.timeOrigin + performance.now();
  const agesOf = (text: string, ages: number[]) => {
    for (const stamp of text.matchAll(/(\d{13}\.\d{3});/g)) ages.push(now() - Number(stamp[1]));
  };

  const readDirectly = async () => {
    const ages: number[] = [];
    await Promise.all(Array.from({ length: streams }, async () => {
      const request = { method: "POST", body: "{}" };
      const response = await fetch(`${model.line}/chat/completions`, request);
      const text = response.body!.pipeThrough(new TextDecoderStream());
      for await (const piece of text) agesOf(piece, ages);
    }));
    return ages;
  };
  const readOver = async () => {
    const ages: number[] = [];
    const all = Array.from({ length: streams }, () => openReady(gateway.line));
    const sockets = await Promise.all(all);
    await Promise.all(sockets.map(({ socket, chatId }) =>
      new Promise<void>((resolve) => {
        socket.on("message", (data) => {
          const frame = JSON.parse(String(data)) as Frame;
          if (frame.event === "delta") agesOf(frame.text!, ages);
          else if (frame.event === "turn_end") resolve();
        });
        socket.send(JSON.stringify({ type: "message", chat_id: chatId, content: "hi" }));
      })
    ));
    for (const { socket } of sockets) socket.terminate();
    return ages;
  };
  const samples: { direct: number[]; over: number[] }[] = [];
  for (let round = 0; round <= rounds; round++) {
    const ages = { direct: await readDirectly(), over: await readOver() };
    for (const [way, { length }] of Object.entries(ages)) {
      if (length !== streams * tokens) throw new Error(`${way}: ${length} tokens`);
    }
    // The first round warms up.
    if (round > 0) samples.push(ages);
  }
  const at = (ages: number[], share: number) =>
    ages.sort((a, b) => a - b)[Math.floor(ages.length * share)]!;
  for (const [name, share, aim] of [["p50", 0.5, 2], ["p99", 0.99, undefined]] as const) {
    const own = median(samples.map(({ direct }) => at(direct, share)));
    figures.push({
      name: `delta later than the model's own, ${streams} streams, ${name} (own: ${
        own.toFixed(2)
      } ms)`,
      value: median(samples.map(({ direct, over }) => at(over, share) - at(direct, share))),
      unit: "ms",
      aim: aim === undefined ? undefined : { atMost: aim },
    });
  }
}
report("the WebSocket port beside a bare ws server", figures, {
  json: Deno.args.includes("--json"),
});
Deno.exit(0);
