/**
 * What can be seen of a running service from outside of it: what it says of itself over its local
 * socket, and what the kernel says of its process.
 *
 * @module
 */

import { resolvePaths } from "../../lib/config/paths.ts";
import { connectLocal, endpointAt } from "../../lib/local/endpoint.ts";
import { operateWith } from "../../cli/operator/operate_with.ts";
import type { ServiceStatus } from "../../lib/operations/service_status.ts";
import type { TestHome } from "./home.ts";

/** Whether this machine tells of processes. */
export const HAS_PROC = Deno.build.os === "linux";

/** What the service of a home says of itself. */
export async function statusOf(home: TestHome): Promise<ServiceStatus> {
  const { socket } = resolvePaths({
    env: (name) => name === "SERVICE_HOME" ? `${home.dir}/home` : undefined,
    homeDir: home.dir,
  });
  const client = await connectLocal(endpointAt(socket));
  if (client === undefined) throw new Error("Nobody answers on the local socket");
  try {
    return await operateWith(client)({ op: "service.status" });
  } finally {
    client.close();
    await client.ended;
  }
}

/** Resolves when no turn runs or waits any more. */
export async function untilIdle(home: TestHome): Promise<void> {
  await until(async () => {
    const { running, queued } = (await statusOf(home)).turns;
    return running + queued === 0;
  });
}

/** Asks again and again, with pauses. Throws when it has waited too long. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  patienceMs = 60_000,
): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  while (!await condition()) {
    if (performance.now() > giveUpAt) throw new Error(`Waited in vain for ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Bytes of memory that a process has for itself. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(status.match(/^RssAnon:\s+(\d+) kB$/m)![1]) * 1024;
}

/** How many sockets a process has open. */
export async function openSockets(pid: number): Promise<number> {
  let count = 0;
  for await (const { name } of Deno.readDir(`/proc/${pid}/fd`)) {
    const target = await Deno.readLink(`/proc/${pid}/fd/${name}`).catch(() => "");
    if (target.startsWith("socket:")) count++;
  }
  return count;
}

/** How many connections a port of this machine has that its server has not closed. */
export async function openConnections(port: number): Promise<number> {
  const table = await Deno.readTextFile("/proc/net/tcp");
  const local = port.toString(16).toUpperCase().padStart(4, "0");
  const [established, closeWait] = ["01", "08"];
  return table.split("\n").filter((line) => {
    const [, address, , state] = line.trim().split(/\s+/);
    return address?.endsWith(`:${local}`) && (state === established || state === closeWait);
  }).length;
}
