/**
 * A machine of its own for the network of sandboxed programs: run inside a network namespace, it has a
 * resolver, servers at a public address (plain, TLS, a git repository, a registry) and a server on
 * loopback that nothing may reach. It runs commands with their hosts and prints what came of them.
 *
 * @module
 */

import { createCommands } from "../../lib/executor/commands.ts";
import { createExecutor } from "../../lib/executor/executor.ts";
import { openNetwork } from "../../lib/executor/network/open_network.ts";
import { ownListeners } from "../../lib/policy/resolve/own_listeners.ts";
import { PUBLIC_ADDRESS } from "./own_network_names.ts";
import { startResolver } from "./own_resolver.ts";
import type { NetworkReport, NetworkStep } from "./network_steps.ts";

const [folder, stepsJson] = Deno.args as [string, string];
const steps: NetworkStep[] = JSON.parse(stepsJson);
const workspace = `${folder}/workspace`;
const socketDir = `${folder}/run`;
await Deno.mkdir(socketDir);

const resolver = await startResolver();
const reached: string[] = [];
/** Connections that are open at the holding server. */
let holding = 0;
/** The most of them at one moment of a step. */
let mostHeld = 0;

/** Files of the repository and the registry; everything else is told who answers. */
async function answer(request: Request, server: string): Promise<Response> {
  const { pathname, host } = new URL(request.url);
  reached.push(`${server} ${request.headers.get("host")}${pathname}`);
  if (pathname.startsWith("/files/") && !pathname.includes("..")) {
    const path = `${folder}${pathname}`;
    const bytes = await Deno.readFile(path).catch(() => undefined);
    return bytes === undefined ? new Response("no", { status: 404 }) : new Response(bytes);
  }
  const body = await request.text();
  return new Response(`answer of ${server} to ${request.method} ${host}: ${body}\n`);
}

const tls = {
  cert: await Deno.readTextFile(`${folder}/leaf.pem`),
  key: await Deno.readTextFile(`${folder}/leaf.key`),
};
const quiet = { onListen() {} };
const own = (hostname: string, port: number) =>
  Deno.serve({ ...quiet, hostname, port }, (request) => answer(request, `${hostname}:${port}`));
const _servers = [
  own(PUBLIC_ADDRESS, 80),
  own(PUBLIC_ADDRESS, 8080),
  own("127.0.0.1", 80),
  own("127.0.0.1", 8900),
  own(PUBLIC_ADDRESS, 8900),
  Deno.serve(
    { ...quiet, ...tls, hostname: PUBLIC_ADDRESS, port: 443 },
    (request) => answer(request, "tls"),
  ),
  Deno.serve(
    { ...quiet, path: `${socketDir}/service.sock` },
    (request) => answer(request, "local"),
  ),
];
const holder = Deno.listen({ hostname: PUBLIC_ADDRESS, port: 9000 });
void (async () => {
  for await (const conn of holder) {
    mostHeld = Math.max(mostHeld, ++holding);
    void conn.write(new TextEncoder().encode("held\n"));
    void conn.read(new Uint8Array(1)).catch(() => {}).finally(() => {
      holding--;
      conn.close();
    });
  }
})();
/** Sends as fast as it is taken, and counts. */
let poured = 0;
const fountain = Deno.listen({ hostname: PUBLIC_ADDRESS, port: 9001 });
void (async () => {
  for await (const conn of fountain) {
    const bytes = new Uint8Array(64 * 1024);
    void (async () => {
      for (;;) poured += await conn.write(bytes);
    })().catch(() => {});
  }
})();

const lines: string[] = [];
const keep = (message: string, data?: unknown) => lines.push(`${message} ${JSON.stringify(data)}`);
const log = { debug() {}, info: keep, warning: keep, error: keep };
const commands = createCommands({
  config: { maxOutputBytes: 100_000, allowUnconfined: false },
  workspace,
  own: () => Promise.resolve({ ownPaths: [], sourcePaths: [] }),
  scratchDir: socketDir,
  onTested: () => Promise.resolve(),
  log,
});
const executor = createExecutor({ cacheDir: `${socketDir}/cache`, log });

async function runStep(step: NetworkStep): Promise<NetworkReport["steps"][number]> {
  const { name, sh, hosts, privateHosts = [], limits, timeoutMs = 30_000 } = step;
  const from = { reached: reached.length, asked: resolver.asked.length };
  const records: Record<string, unknown>[] = [];
  const network = await openNetwork({
    executor,
    audit: {
      append(_kind, data) {
        records.push(data);
        return Promise.resolve({} as never);
      },
    },
    privateHosts,
    listeners: () => ownListeners([8900]),
    socketDir,
    limits,
    log,
  }, { hosts, user: { kind: "exec", sessionKey: "s", turnId: "t", callId: "c" } });
  const argv = ["/bin/sh", "-c", sh];
  mostHeld = 0;
  const end = await commands.run(
    { kind: "command", argv, program: "/bin/sh", cwd: workspace },
    {
      timeoutMs,
      signal: new AbortController().signal,
      onProgress() {},
      openNetwork: () => Promise.resolve(network),
    },
  );
  await network.close();
  const isLeft = await Deno.stat(network.socket).then(() => true, () => false);
  return {
    name,
    end,
    output: "output" in end ? end.output : "",
    reached: reached.slice(from.reached),
    asked: resolver.asked.slice(from.asked),
    records,
    mostHeld,
    isSocketLeft: isLeft,
  };
}

const report: NetworkReport = { steps: [], log: lines, poured: 0 };
for (const step of steps) {
  const beside = step.beside;
  const [first] = await Promise.all([
    runStep(step),
    ...(beside === undefined ? [] : [runStep(beside)]),
  ]);
  report.steps.push(first);
}
report.poured = poured;
Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(report)}\n`));
await commands.shutdown();
await executor.shutdown();
Deno.exit(0);
