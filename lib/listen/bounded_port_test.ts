import { assert, assertEquals } from "@std/assert";
import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect as connectPlain, type Server, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { needs } from "../../tests/support/needs.ts";
import { fakeClock } from "../agent/testing/fake_clock.ts";
import { BoundedPort, type PortChange } from "./bounded_port.ts";
import { Connections } from "./connection_counts.ts";
import { makeTestCertificate, type TestCertificate } from "../http/testing/test_certificate.ts";

const REQUEST = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const MAX = 3;

/** A server on a bounded port, and what happened to it. */
async function openPort(tls?: TestCertificate, maxPerAddress = Infinity) {
  const clock = fakeClock();
  const server: Server = tls ? createTlsServer(tls, answer) : createServer(answer);
  const changes: PortChange[] = [];
  const connections = new Connections(server, maxPerAddress);
  const accepted: Socket[] = [];
  server.on("connection", (socket) => accepted.push(socket));
  const bounded = new BoundedPort(server, {
    host: "127.0.0.1",
    port: 0,
    maxConnections: MAX,
    backlog: 128,
    clock,
    onChange: (change) => changes.push(change),
  });
  await bounded.open();
  const { port } = server.address() as { port: number };

  const clients: Socket[] = [];
  const servedBy = new Map<Socket, Socket>();
  function connect(localAddress = "127.0.0.1"): Socket {
    const options = { port, host: "127.0.0.1", localAddress };
    const socket = tls ? connectTls({ ...options, ca: tls.ca }) : connectPlain(options);
    socket.on("error", () => {});
    clients.push(socket);
    return socket;
  }

  return {
    ...{ clock, server, changes, connections, accepted, bounded, port, connect },
    /** Fills it; each has had an answer. */
    async fill(): Promise<Socket[]> {
      const all = [];
      for (let at = 0; at < MAX; at++) {
        const client = connect();
        await ask(client);
        servedBy.set(client, accepted.at(-1)!);
        all.push(client);
      }
      return all;
    },
    /** One of those leaves, and the server has noticed. */
    async leave(client: Socket): Promise<void> {
      const noticed = once(servedBy.get(client)!, "close");
      client.destroy();
      await noticed;
    },
    isOpen: () => server.address() !== null,
    /** Lets time pass until the port is open again. */
    async reopen(ms = 100): Promise<void> {
      const listening = once(server, "listening");
      clock.tick(ms);
      await listening;
    },
    async [Symbol.asyncDispose]() {
      bounded.stop();
      const closed = once(server, "close");
      server.close();
      for (const client of clients) client.destroy();
      for (const socket of accepted) socket.destroy();
      await closed;
    },
  };
}

function answer(_request: unknown, response: { end(text: string): void }): void {
  response.end("here");
}

/** Sends a request on a connection; resolves with the answer, or with "" when it is closed. */
function ask(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
      if (text.endsWith("here")) resolve(text);
    });
    socket.once("close", () => resolve(""));
    socket.write(REQUEST);
  });
}

/** The error with which a connection fails. */
async function refusal(socket: Socket): Promise<string> {
  const [error] = await once(socket, "error").catch((error) => [error]);
  return error.code;
}

for (const scheme of ["http", "https"]) {
  Deno.test({
    ...needs(
      `BoundedPort for ${scheme} is closed while it is full, and open again after one left`,
      scheme === "https" && "openssl",
    ),
    async fn() {
      using tls = scheme === "https" ? await makeTestCertificate() : undefined;
      await using on = await openPort(tls);
      const [first, ...others] = await on.fill();
      assertEquals(on.changes, [{ kind: "full", maxConnections: MAX }]);
      assert(!on.isOpen());
      assertEquals(await refusal(on.connect()), "ECONNREFUSED");

      await on.leave(first!);
      on.clock.tick(99);
      assertEquals(await refusal(on.connect()), "ECONNREFUSED");
      await on.reopen(1);
      assert((await ask(on.connect())).endsWith("here"));
      for (const other of others) assert((await ask(other)).endsWith("here"), "one was cut");

      // It is the same flood.
      assert(!on.isOpen());
      await on.leave(others[0]!);
      await on.reopen();
      on.clock.tick(9_999);
      assertEquals(on.changes.length, 1);
      on.clock.tick(1);
      assertEquals(on.changes.slice(1), [{ kind: "open", closedMs: 200 }]);
      assertEquals(on.clock.timers(), 0);

      // And that is another one.
      await ask(on.connect());
      assertEquals(on.changes.map(({ kind }) => kind), ["full", "open", "full"]);
    },
  });

  Deno.test({
    ...needs(
      `BoundedPort for ${scheme} takes others after a burst from an address that has too many`,
      scheme === "https" && "openssl",
    ),
    async fn() {
      using tls = scheme === "https" ? await makeTestCertificate() : undefined;
      await using on = await openPort(tls, 1);
      const kept = on.connect();
      await ask(kept);
      const burst = Array.from({ length: 50 }, () => on.connect());
      await Promise.all(burst.map((socket) => once(socket, "close").catch(() => {})));
      const [, ...turnedAway] = on.accepted;
      await Promise.all(
        turnedAway.map((socket) => socket.closed || once(socket, "close")),
      );
      assertEquals(on.connections.counts.open, 1);
      assert(turnedAway.length >= 1);
      if (!on.isOpen()) await on.reopen();
      assert((await ask(on.connect("127.0.0.2"))).endsWith("here"));
      assert((await ask(kept)).endsWith("here"));
    },
  });
}

Deno.test("BoundedPort lets in as many of a burst as it may, and refuses the others", async () => {
  await using on = await openPort();
  const burst = Array.from({ length: 100 }, () => on.connect());
  const over = Promise.withResolvers<void>();
  let closed = 0;
  for (const socket of burst) {
    socket.on("close", () => {
      if (++closed === 100 - MAX) over.resolve();
    });
  }
  await over.promise;
  assertEquals(on.accepted.length, MAX);
  assertEquals(on.connections.counts.open, MAX);
});

for (const state of ["full", "resting", "opening"] as const) {
  Deno.test(`stop() of a BoundedPort that is ${state} lets the server close for good`, async () => {
    await using on = await openPort();
    const clients = await on.fill();
    if (state !== "full") await on.leave(clients.shift()!);
    if (state === "opening") on.clock.tick(100);
    const closed = once(on.server, "close");
    on.bounded.stop();
    on.server.close();
    await Promise.all(clients.map((client) => on.leave(client)));
    await closed;
    on.clock.tick(60_000);
    assertEquals(on.clock.timers(), 0);
    assertEquals(await refusal(on.connect()), "ECONNREFUSED");
    assertEquals(on.changes.length, 1);
  });
}

Deno.test("BoundedPort says that somebody else took its port, and takes it when it is free", async () => {
  await using on = await openPort();
  const [first] = await on.fill();
  {
    using _other = Deno.listen({ hostname: "127.0.0.1", port: on.port });
    await on.leave(first!);
    for (const waitMs of [100, 100, 200, 400]) {
      const failed = once(on.server, "error").catch((error) => error);
      on.clock.tick(waitMs);
      await failed;
    }
    assertEquals(on.changes.map(({ kind }) => kind), ["full", "blocked"]);
  }
  await on.reopen(800);
  assert((await ask(on.connect())).endsWith("here"));
});

Deno.test("BoundedPort stays open, and closes what is too much, where it may not listen again", async () => {
  const worker = new Worker(new URL("../http/testing/bounded_port_worker.ts", import.meta.url), {
    type: "module",
    deno: { permissions: { net: ["127.0.0.1:0"], read: true } },
  });
  const { port } = await new Promise<{ port: number }>((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => reject(event.error ?? new Error(event.message));
  });
  const connect = () => connectPlain(port, "127.0.0.1").on("error", () => {});
  const first = connect();
  assert((await ask(first)).endsWith("here"));
  for (let at = 0; at < 3; at++) assertEquals(await ask(connect()), "");
  assert((await ask(first)).endsWith("here"));
  first.destroy();
  worker.terminate();
});
