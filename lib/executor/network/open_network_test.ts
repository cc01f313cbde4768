import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { CHILD_ARGUMENT } from "../command.ts";
import { createExecutor, type Executor } from "../executor.ts";
import { connectHead } from "../../network/connect_head.ts";
import { readText, writeText } from "../../network/testing/pair.ts";
import { type NetworkDeps, openNetwork, removeLeftNetworks } from "./open_network.ts";
import { proxyEnv } from "./network_sandbox.ts";

const silent = () => {};
const log = { debug: silent, info: silent, warning: silent, error: silent };
const USER = { kind: "mcp", server: "s" } as const;

interface Setup {
  deps: NetworkDeps;
  executor: Executor;
  records: Record<string, unknown>[];
  /** A server on loopback; what it was asked. */
  server: { port: number; asked: string[] };
  names(): string[];
}

async function withNetworks(test: (setup: Setup) => Promise<void>): Promise<void> {
  const socketDir = await Deno.realPath(await Deno.makeTempDir());
  const executor = createExecutor({ cacheDir: `${socketDir}/cache`, log });
  const records: Record<string, unknown>[] = [];
  const asked: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: silent }, (request) => {
    asked.push(request.url);
    return new Response("from loopback");
  });
  try {
    await test({
      deps: {
        executor,
        audit: {
          append(_kind, data) {
            records.push(data);
            return Promise.resolve({} as never);
          },
        },
        privateHosts: ["127.0.0.1"],
        listeners: () => ({ ports: [1], addresses: [] }),
        socketDir,
        log,
      },
      executor,
      records,
      server: { port: server.addr.port, asked },
      names: () =>
        [...Deno.readDirSync(socketDir)].map(({ name }) => name).filter((n) => n !== "cache"),
    });
  } finally {
    await executor.shutdown();
    await server.shutdown();
    await Deno.remove(socketDir, { recursive: true });
  }
}

/** What the proxy says to a request, and what comes after one that it lets through. */
async function ask(socket: string, host: string, port: number): Promise<string> {
  const conn = await Deno.connect({ transport: "unix", path: socket });
  await writeText(conn, connectHead({ host, port }));
  const buffer = new Uint8Array(2_048);
  const count = await conn.read(buffer);
  let said = new TextDecoder().decode(buffer.subarray(0, count ?? 0));
  if (said.startsWith("HTTP/1.1 200")) {
    await writeText(conn, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    said += await readText(conn);
  }
  conn.close();
  return said;
}

Deno.test("openNetwork() lets connections through to what was judged, and leaves nothing when closed", async () => {
  await withNetworks(async ({ deps, server, records, names }) => {
    const hosts = [`127.0.0.1:${server.port}`];
    const network = await openNetwork(deps, { hosts, user: USER });
    assertEquals(names().length, 1);
    const { mode } = await Deno.stat(network.socket.replace(/\/[^/]*$/, ""));
    assertEquals(mode! & 0o777, 0o700);
    const said = await ask(network.socket, "127.0.0.1", server.port);
    assertMatch(said, /^HTTP\/1\.1 200 OK\r\n\r\nHTTP\/1\.1 200 OK[^]*from loopback/);
    assertMatch(await ask(network.socket, "127.0.0.1", 1), /^HTTP\/1\.1 403 /);
    assertEquals(records.map(({ user, effect }) => `${user} ${effect}`), [
      "mcp:s allow",
      "mcp:s deny",
    ]);
    await network.close();
    assertMatch(await network.ended, /closed/);
    assertEquals(names(), []);
    await assertRejects(() => ask(network.socket, "127.0.0.1", server.port));
    await network.close();
  });
});

Deno.test("openNetwork() has a second wall: what is told to reach loopback wrongly does not", async () => {
  await withNetworks(async ({ deps, executor, server }) => {
    const told = { addresses: ["127.0.0.1"] };
    const wrong: Pick<Executor, "open" | "childUser"> = {
      childUser: () => executor.childUser(),
      open: (job, handlers, options) =>
        executor.open(
          job,
          { ...handlers, calls: { ...handlers.calls, host: () => told, addresses: () => told } },
          options,
        ),
    };
    const open = (privateHosts: string[]) =>
      openNetwork({ ...deps, executor: wrong, privateHosts }, { hosts: ["a.example"], user: USER });
    const walled = await open([]);
    assertMatch(await ask(walled.socket, "a.example", server.port), /^HTTP\/1\.1 502 /);
    assertEquals(server.asked, []);
    await walled.close();
    // The same without the wall, so that it is the wall that held.
    const bare = await open(["127.0.0.1"]);
    assertMatch(await ask(bare.socket, "a.example", server.port), /^HTTP\/1\.1 200 /);
    await bare.close();
  });
});

Deno.test("openNetwork() keeps networks apart: each has its own hosts and its own socket", async () => {
  await withNetworks(async ({ deps, server, names }) => {
    const [one, two] = await Promise.all([
      openNetwork(deps, { hosts: [`127.0.0.1:${server.port}`], user: USER }),
      openNetwork(deps, { hosts: ["b.example"], user: USER }),
    ]);
    assertEquals(names().length, 2);
    assertMatch(await ask(two.socket, "127.0.0.1", server.port), /^HTTP\/1\.1 403 /);
    await two.close();
    assertMatch(await ask(one.socket, "127.0.0.1", server.port), /^HTTP\/1\.1 200 /);
    await one.close();
  });
});

Deno.test("openNetwork() leaves nothing when its child cannot be started or is not waited for", async () => {
  await withNetworks(async ({ deps, names }) => {
    const executor = {
      open: () => Promise.reject(new Error("32 children live on already")),
      childUser: () => deps.executor.childUser(),
    };
    const asked = { hosts: ["a.example"], user: USER };
    await assertRejects(
      () => openNetwork({ ...deps, executor }, asked),
      Error,
      "32 children",
    );
    const signal = AbortSignal.abort(new Error("not any more"));
    await assertRejects(() => openNetwork(deps, { ...asked, signal }), Error, "not any more");
    await assertRejects(
      () => openNetwork(deps, { ...asked, hosts: ["not a host"] }),
      TypeError,
      'Cannot read the host "not a host"',
    );
    assertEquals(names(), []);
  });
});

Deno.test("openNetwork() ends with its executor, and what a killed process left is removed", async () => {
  await withNetworks(async ({ deps, executor, names }) => {
    const network = await openNetwork(deps, { hosts: ["a.example"], user: USER });
    await executor.shutdown();
    assertMatch(await network.ended, /stopping/);
    await Deno.mkdir(`${deps.socketDir}/keep`);
    await removeLeftNetworks(deps.socketDir);
    assertEquals(names(), ["keep"]);
    await network.close();
  });
});

Deno.test("runAsChild() is the relay too, as the binary starts it", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const plan = { socket: "s", proxy: { hostname: "127.0.0.1", port: 0 }, direct: [] };
  await Deno.writeTextFile(`${folder}/relay.json`, JSON.stringify(plan));
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", "--quiet", "--no-config", "--no-lock"],
      ...[fromFileUrl(new URL("../child.ts", import.meta.url))],
      ...[CHILD_ARGUMENT, "network_relay", folder],
    ],
    stdin: "null",
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  assertEquals(new TextDecoder().decode(value), "ready\n");
  await reader.cancel();
  child.kill("SIGKILL");
  await child.status;
  await Deno.remove(folder, { recursive: true });
});

Deno.test("proxyEnv() names the proxy in both spellings", () => {
  const env = proxyEnv();
  for (const name of ["http_proxy", "https_proxy", "all_proxy", "no_proxy"]) {
    assert(env[name] !== undefined);
    assertEquals(env[name], env[name.toUpperCase()]);
  }
});
