/**
 * A machine of its own for attacks on names and addresses: run inside a network namespace, it has a
 * resolver on port 53, a server at a public address and one on loopback. It fetches what it is asked
 * for through a real gate and prints what came of it as JSON.
 *
 * @module
 */

import { createSocket } from "node:dgram";
import { gateFixture } from "../../lib/authority/testing/gate_fixture.ts";
import { ADDRESSES, PUBLIC_ADDRESS, type WorldReport } from "./own_network_names.ts";

/** Questions asked, `name/type`, in order. */
const asked: string[] = [];
const given = new Map<string, number>();

/** The answer to a query of one question; the addresses of a name change from one to the next. */
function answer(query: Uint8Array): Uint8Array {
  const labels: string[] = [];
  let at = 12;
  while (query[at] !== 0) {
    const length = query[at]!;
    labels.push(new TextDecoder().decode(query.subarray(at + 1, at + 1 + length)));
    at += length + 1;
  }
  const type = query[at + 1]! << 8 | query[at + 2]!;
  const question = query.slice(12, at + 5);
  const name = labels.join(".").toLowerCase();
  const key = `${name}/${type === 28 ? "AAAA" : "A"}`;
  asked.push(key);
  const turns = ADDRESSES[name]?.[type === 28 ? "AAAA" : "A"] ?? [];
  const turn = given.get(key) ?? 0;
  given.set(key, turn + 1);
  const addresses = turns[Math.min(turn, turns.length - 1)] ?? [];
  const records = addresses.map((bytes) =>
    new Uint8Array([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes])
  );
  const head = [query[0]!, query[1]!, 0x81, 0x80, 0, 1, 0, records.length, 0, 0, 0, 0];
  return new Uint8Array([...head, ...question, ...records.flatMap((record) => [...record])]);
}

const socket = createSocket("udp4");
socket.on("message", (query, from) => {
  socket.send(answer(new Uint8Array(query)), from.port, from.address);
});
await new Promise<void>((resolve) => socket.bind(53, "127.0.0.1", () => resolve()));

const reached: string[] = [];
const serve = (hostname: string) =>
  Deno.serve({ hostname, port: 80, onListen() {} }, (request) => {
    reached.push(hostname);
    const { searchParams } = new URL(request.url);
    const to = searchParams.get("to");
    return to === null
      ? new Response(`answer of ${hostname}`)
      : new Response(null, { status: 302, headers: { location: to } });
  });
const servers = [serve("127.0.0.1"), serve(PUBLIC_ADDRESS)];

const report: WorldReport = { fetches: [], asked };
{
  await using gate = await gateFixture();
  for (const url of Deno.args) {
    const from = reached.length;
    const { status, output } = await gate.act("web_fetch", { url }, {
      context: { personHosts: [...Object.keys(ADDRESSES), PUBLIC_ADDRESS] },
    });
    report.fetches.push({ url, status, output, reached: reached.slice(from) });
  }
}
Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(report)}\n`));
socket.close();
await Promise.all(servers.map((server) => server.shutdown()));
