/**
 * A machine of its own for attacks on names and addresses: run inside a network namespace, it has a
 * resolver on port 53, a server at a public address and one on loopback. It fetches what it is asked
 * for through a real gate and prints what came of it as JSON.
 *
 * @module
 */

import { gateFixture } from "../../lib/authority/testing/gate_fixture.ts";
import { ADDRESSES, PUBLIC_ADDRESS, type WorldReport } from "./own_network_names.ts";
import { startResolver } from "./own_resolver.ts";

const resolver = await startResolver();
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

const report: WorldReport = { fetches: [], asked: resolver.asked };
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
resolver.close();
await Promise.all(servers.map((server) => server.shutdown()));
