/**
 * What a turn costs: processor time and rate of the service beside a bare proxy and the model itself, and
 * where the gateway's time goes.
 *
 * Every turn is a session of its own and its answer ten deltas. Processor time is that of all processes
 * in front of the model, so it means the same on a busy machine; rates do not. Subjects take turns.
 *
 * `deno run -A --cached-only --lock=deno.lock --frozen bench/turn.ts [--json] [--rounds 3] [--turns 400]
 * [--parallel 1,16,64] [--ways whole,streamed,websocket] [--profile whole|streamed|websocket|none]
 * [--save FILE.cpuprofile]`
 *
 * @module
 */

import { parseArgs } from "@std/cli/parse-args";
import { TextLineStream } from "@std/streams/text-line-stream";
import { componentTimes } from "./cpu_profile.ts";
import { childrenOf, makeBenchHome, startModel, startProxy } from "./processes.ts";
import { type Figure, report } from "./report.ts";
import {
  chat,
  MEASURES,
  middle,
  overWebSocket,
  type Sample,
  sample,
  type Subject,
} from "./turns.ts";
import { lockedFlags } from "../lib/packages/locked_packages.ts";

const TOKENS = 10;

const given = parseArgs(Deno.args, {
  string: ["rounds", "turns", "parallel", "ways", "profile", "save"],
});
const rounds = Number(given.rounds ?? 3);
const total = Number(given.turns ?? 400);
const lanes = String(given.parallel ?? "1,16,64").split(",").map(Number);
const ways = String(given.ways ?? "whole,streamed,websocket").split(",");
const profile = String(given.profile ?? "whole");

/** The service over a model, HTTP and WebSocket, its gateway with a profiler. */
async function startProfiled(modelUrl: string) {
  const home = await makeBenchHome(modelUrl);
  const file = `${home}/config.json`;
  const config = JSON.parse(await Deno.readTextFile(file));
  config.api = { enabled: true, port: 0 };
  config.channels = { websocket: { port: 0, websocketRequiresToken: false } };
  await Deno.writeTextFile(file, JSON.stringify(config));
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-q", "-A", "--cached-only", ...lockedFlags(), "bench/profiled_service.ts"],
    cwd: new URL("../", import.meta.url),
    env: { SERVICE_HOME: home },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const linesOf = (stream: ReadableStream<Uint8Array>) =>
    stream.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream()).getReader();
  const said = linesOf(child.stdout);
  const told = linesOf(child.stderr);
  const profiled = Promise.withResolvers<unknown>();
  let lastLine = "";
  // Read as it comes: the service's log lines fill a pipe that nobody reads.
  const allTold = (async () => {
    for (let line; (line = (await told.read()).value) !== undefined; lastLine = line) {
      if (line.startsWith("PROFILE ")) profiled.resolve(JSON.parse(line.slice("PROFILE ".length)));
    }
    profiled.reject(new Error(`The service ended: ${lastLine}`));
  })();
  profiled.promise.catch(() => {});
  const { value: started } = await said.read();
  if (started === undefined) await profiled.promise;
  const { apiUrl, wsUrl } = JSON.parse(started!);
  let gateway = child.pid;
  // The innermost of the processes, behind its sandbox.
  for (let next; (next = childrenOf(gateway).at(-1)) !== undefined;) gateway = next;
  return {
    pid: child.pid,
    apiUrl,
    wsUrl,
    /** Begins a profile of the gateway, or ends it. */
    signal: () => Deno.kill(gateway, "SIGUSR2"),
    profile: profiled.promise as Promise<Parameters<typeof componentTimes>[0]>,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.status;
      await Promise.all([said.cancel(), allTold]);
      await Deno.remove(home, { recursive: true });
    },
  };
}

const figures: Figure[] = [];
{
  await using model = await startModel(TOKENS);
  await using proxy = await startProxy(model.line);
  await using service = await startProfiled(model.line);
  const turns: Record<string, Record<string, Subject>> = {
    whole: {
      model: { pid: model.pid, turn: chat(model.line, false) },
      proxy: { pid: proxy.pid, turn: chat(proxy.line, false) },
      service: { pid: service.pid, turn: chat(`${service.apiUrl}/v1`, false) },
    },
    streamed: {
      model: { pid: model.pid, turn: chat(model.line, true) },
      proxy: { pid: proxy.pid, turn: chat(proxy.line, true) },
      service: { pid: service.pid, turn: chat(`${service.apiUrl}/v1`, true) },
    },
    websocket: {
      "HTTP, streamed": { pid: service.pid, turn: chat(`${service.apiUrl}/v1`, true) },
      service: { pid: service.pid, turn: overWebSocket(service.wsUrl) },
    },
  };

  for (const way of ways) {
    const subjects = turns[way];
    if (subjects === undefined) throw new Error(`--ways: no such way: ${way}`);
    for (const subject of Object.values(subjects)) await sample(subject, 16, total);
    for (const parallel of lanes) {
      const samples: Record<string, Sample[]> = {};
      for (let round = 0; round < rounds; round++) {
        for (const [name, subject] of Object.entries(subjects)) {
          (samples[name] ??= []).push(await sample(subject, parallel, total));
        }
      }
      for (const name of Object.keys(subjects).filter((name) => name !== "service")) {
        for (const [say, what, unit] of MEASURES) {
          const value = middle(samples[name]!, what);
          figures.push({
            name: `${way}, ${parallel} in parallel: ${say}`,
            value: middle(samples.service!, what),
            unit,
            against: { name: `${name}, ${value.toPrecision(3)} ${unit}`, value },
          });
        }
      }
    }
  }

  const profiled = turns[profile]?.service;
  if (profiled !== undefined) {
    service.signal();
    await sample(profiled, lanes.at(-1)!, total * 3);
    service.signal();
    const found = await service.profile;
    if (given.save) await Deno.writeTextFile(String(given.save), JSON.stringify(found));
    const times = componentTimes(found);
    const sum = times.reduce((sum, [, us]) => sum + us, 0);
    for (const [name, us] of times.filter(([, us]) => us >= sum / 200)) {
      figures.push({
        name: `${profile}, gateway's thread: ${name}`,
        value: us / (total * 3),
        unit: "us",
        against: { name: "all of it", value: sum / (total * 3) },
      });
    }
  }
}
report("the cost of a turn", figures, { json: Deno.args.includes("--json") });
// Sockets of lanes are still open.
Deno.exit(0);
