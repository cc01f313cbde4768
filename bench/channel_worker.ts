/**
 * What a channel in a process of its own costs: to open it, against a Worker that does nothing; to keep
 * it; and a message over its pipes, against one over a bare port.
 *
 * `deno run -A --cached-only --lock=deno.lock --frozen bench/channel_worker.ts [--json]`
 *
 * @module
 */

import { order, WorkerFixture } from "../lib/operations/channels/testing/worker_fixture.ts";
import { channelProcesses } from "../tests/support/channel_processes.ts";
import { shareBytes } from "./processes.ts";
import { median, report } from "./report.ts";

const ROUNDS = 9;
const WORKERS = 20;
const MESSAGES = 20_000;
const AT_ONCE = 64;

const fixture = await WorkerFixture.open();
const inbound = () => Promise.resolve({ kind: "command" } as const);

/** Milliseconds. */
async function time(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

const echo = `self.onmessage = ({ data, ports: [port] }) => {
  port.onmessage = ({ data }) => port.postMessage(data);
};`;

function bareWorker(): { worker: Worker; port: MessagePort } {
  const worker = new Worker(`data:text/javascript,${encodeURIComponent(echo)}`, { type: "module" });
  const { port1, port2 } = new MessageChannel();
  worker.postMessage(0, [port2]);
  return { worker, port: port1 };
}

/** A second, of calls that are asked and answered, so many at once. */
async function rate(count: number, call: () => Promise<unknown>): Promise<number> {
  const ms = await time(async () => {
    let left = count;
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
      while (left-- > 0) await call();
    }));
  });
  return count / ms * 1_000;
}

const bareOpen: number[] = [];
const open: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  bareOpen.push(
    await time(async () => {
      const { worker, port } = bareWorker();
      await new Promise((resolve) => {
        port.onmessage = resolve;
        port.postMessage(1);
      });
      port.close();
      worker.terminate();
    }),
  );
  open.push(await time(async () => await (await fixture.build({}, { inbound })).stop(1_000)));
}

/** On Linux each process's share of what it has in memory; bytes. */
function memory(): number {
  if (Deno.build.os !== "linux") return Deno.memoryUsage().rss;
  return [Deno.pid, ...channelProcesses()].map(shareBytes).reduce((sum, bytes) => sum + bytes);
}

const before = memory();
const channels = [];
for (let at = 0; at < WORKERS; at++) {
  channels.push(await fixture.build({ runtimeName: `p${at}` }, { inbound }));
}
const memoryMb = (memory() - before) / WORKERS / 1e6;

const [channel] = channels;
await rate(MESSAGES / 4, () => channel!.send(order("say hello")));
const sends = await rate(MESSAGES, () => channel!.send(order("say hello")));

const { worker, port } = bareWorker();
const answers = new Map<number, () => void>();
let lastId = 0;
port.onmessage = ({ data }) => {
  answers.get(data.id)!();
  answers.delete(data.id);
};
const bare = await rate(MESSAGES, () =>
  new Promise<void>((resolve) => {
    answers.set(++lastId, resolve);
    port.postMessage({ id: lastId, call: { op: "send", message: order("say hello") } });
  }));
port.close();
worker.terminate();

let published = 0;
const all = Promise.withResolvers<void>();
const flooding = await fixture.build({ runtimeName: "flood" }, {
  inbound() {
    published += 1;
    if (published === MESSAGES) all.resolve();
    return inbound();
  },
});
const publishMs = await time(async () => {
  await flooding.send(order(`flood ${MESSAGES}`));
  await all.promise;
});

for (const each of [...channels, flooding]) await each.stop(1_000);
await fixture.close();
const met = report("channel worker", [
  {
    name: "a channel worker, opened and ended",
    value: median(open),
    unit: "ms",
    against: { name: "a Worker that does nothing", value: median(bareOpen) },
  },
  { name: "memory of a channel worker", value: memoryMb, unit: "MB" },
  {
    name: "sends through a channel worker",
    value: sends,
    unit: "1/s",
    against: { name: "echoes over a bare port", value: bare },
  },
  {
    name: "publications out of a channel worker",
    value: MESSAGES / publishMs * 1_000,
    unit: "1/s",
    against: { name: "echoes over a bare port", value: bare },
  },
], { json: Deno.args.includes("--json") });
Deno.exit(met ? 0 : 1);
