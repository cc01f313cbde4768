import { assert, assertEquals, assertMatch } from "@std/assert";
import { pair, readText, writeText } from "../testing/pair.ts";
import type { TunnelEnd } from "../tunnel.ts";
import { type ProxyDeps, serveProxy } from "./proxy.ts";

const LIMITS = {
  maxConnections: 2,
  headMs: 60_000,
  lookUpMs: 60_000,
  connectMs: 60_000,
  idleMs: 60_000,
  halfOpenMs: 60_000,
};
const HEAD = "CONNECT a.example:443 HTTP/1.1\r\n\r\n";

/** A proxy that takes the connections it is given. */
function startProxy(deps: Partial<ProxyDeps>) {
  const waiting: TunnelEnd[] = [];
  let wake = Promise.withResolvers<void>();
  const connected: string[] = [];
  async function* listener() {
    for (;;) {
      while (waiting.length > 0) yield waiting.shift()!;
      await wake.promise;
      wake = Promise.withResolvers();
    }
  }
  void serveProxy(listener(), {
    askHost: () => Promise.resolve({ addresses: [] }),
    askAddresses: ({ addresses }) => Promise.resolve({ addresses }),
    lookUp: () => Promise.resolve(["192.0.2.1", "192.0.2.2"]),
    async connect(address, port) {
      connected.push(`${address}:${port}`);
      const [near, far] = await pair();
      void writeText(far, `at ${address}`).then(() => far.close());
      return near;
    },
    limits: LIMITS,
    ...deps,
  });
  return {
    connected,
    async open(): Promise<Deno.Conn> {
      const [near, far] = await pair();
      waiting.push(far);
      wake.resolve();
      return near;
    },
  };
}

async function ask(proxy: ReturnType<typeof startProxy>, head = HEAD): Promise<string> {
  const conn = await proxy.open();
  await writeText(conn, head);
  const said = await readText(conn);
  conn.close();
  return said;
}

Deno.test("serveProxy() connects to the judged addresses alone, in turn", async () => {
  const asked: unknown[] = [];
  const proxy = startProxy({
    askHost(host) {
      asked.push(host);
      return Promise.resolve({ addresses: [] });
    },
    askAddresses(host) {
      asked.push(host);
      return Promise.resolve({ addresses: ["192.0.2.2"] });
    },
  });
  assertEquals(await ask(proxy), "HTTP/1.1 200 OK\r\n\r\nat 192.0.2.2");
  assertEquals(proxy.connected, ["192.0.2.2:443"]);
  const host = { host: "a.example", port: 443 };
  assertEquals(asked, [host, { ...host, addresses: ["192.0.2.1", "192.0.2.2"] }]);
});

Deno.test("serveProxy() looks nothing up that is refused, or that is an address", async () => {
  const lookUp = () => Promise.reject(new Error("nothing is looked up"));
  const refused = startProxy({ lookUp, askHost: () => Promise.resolve({ refused: "not that" }) });
  assertMatch(await ask(refused), /^HTTP\/1\.1 403 Forbidden\r\n[^]*\r\n\r\nnot that\n$/);
  const literal = startProxy({
    lookUp,
    askHost: () => Promise.resolve({ addresses: ["192.0.2.3"] }),
  });
  assertMatch(await ask(literal), /at 192\.0\.2\.3$/);
  assertEquals([refused.connected, literal.connected], [[], ["192.0.2.3:443"]]);
});

Deno.test("serveProxy() tries the next address, and says when none answers", async () => {
  const tried: string[] = [];
  const connect = (address: string) => {
    tried.push(address);
    return Promise.reject(new Error("connection refused"));
  };
  const lookUp = () => Promise.resolve(["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"]);
  const said = await ask(startProxy({ connect, lookUp }));
  assertMatch(said, /^HTTP\/1\.1 502 [^]*"a\.example" cannot be reached: connection refused\n$/);
  assertEquals(tried, ["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
});

Deno.test("serveProxy() waits for nothing for ever", async () => {
  const never = () => new Promise<never>(() => {});
  let given: AbortSignal | undefined;
  const slowConnect = startProxy({
    connect(_address, _port, signal) {
      given = signal;
      return never();
    },
    limits: { ...LIMITS, connectMs: 20 },
  });
  assertMatch(await ask(slowConnect), /^HTTP\/1\.1 502 /);
  assert(given!.aborted);
  const slowNames = startProxy({ lookUp: never, limits: { ...LIMITS, lookUpMs: 20 } });
  assertMatch(
    await ask(slowNames),
    /^HTTP\/1\.1 502 [^]*cannot be looked up \(no answer in time\)/,
  );
  const slowClient = startProxy({ limits: { ...LIMITS, headMs: 20 } });
  assertMatch(await ask(slowClient, "CONNECT a.exam"), /^HTTP\/1\.1 408 /);
});

Deno.test("serveProxy() says of a name that has no address that it cannot be looked up", async () => {
  const lookUp = () => Promise.reject(Object.assign(new Error("no"), { code: "ENOTFOUND" }));
  assertMatch(await ask(startProxy({ lookUp })), /^HTTP\/1\.1 502 [^]*\(ENOTFOUND\)\n$/);
});

Deno.test("serveProxy() closes a connection that its authority says nothing about", async () => {
  const askHost = () => Promise.reject(new Error("the session has ended"));
  const proxy = startProxy({ askHost });
  assertEquals(await ask(proxy), "");
  assertEquals(proxy.connected, []);
});

Deno.test("serveProxy() refuses what is more than it may have open, and takes the next when one has ended", async () => {
  const judged: (() => void)[] = [];
  const arrived: (() => void)[] = [];
  const proxy = startProxy({
    askHost: () =>
      new Promise((resolve) => {
        judged.push(() => resolve({ refused: "later" }));
        arrived.shift()?.();
      }),
  });
  const enter = async () => {
    const came = new Promise<void>((resolve) => arrived.push(resolve));
    const conn = await proxy.open();
    await writeText(conn, HEAD);
    await came;
    return conn;
  };
  const open = [await enter(), await enter()];
  assertMatch(await ask(proxy), /^HTTP\/1\.1 503 [^]*2 connections are open already\n$/);
  for (const end of judged) end();
  for (const conn of open) {
    assertMatch(await readText(conn), /^HTTP\/1\.1 403 /);
    conn.close();
  }
  const last = await enter();
  judged.at(-1)!();
  assertMatch(await readText(last), /^HTTP\/1\.1 403 /);
  last.close();
});
