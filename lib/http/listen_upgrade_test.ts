import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { connect, type Socket } from "node:net";
import { listen, type ListenOptions, type UpgradeHandler } from "../listen/listen.ts";
import { rawRequest } from "./testing/test_api.ts";

const UPGRADE = "Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n";
const OPENING = `GET /up HTTP/1.1\r\n${UPGRADE}\r\n`;

/** Answers and then says back what it hears. */
const echo: UpgradeHandler = (_request, socket, head) => {
  socket.write("HTTP/1.1 101 Switching Protocols\r\n\r\n");
  socket.write(head);
  socket.on("data", (chunk) => socket.write(chunk));
};

function open(options: Partial<ListenOptions> = {}) {
  return listen({
    host: "127.0.0.1",
    port: 0,
    setting: "channels.websocket",
    handler: () => new Response("plain"),
    onUpgrade: echo,
    ...options,
  });
}

async function openSocket(port: number): Promise<{ socket: Socket; closed: Promise<string> }> {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk) => text += chunk);
  socket.on("error", () => {});
  const closed = new Promise<string>((resolve) => socket.on("close", () => resolve(text)));
  await new Promise((resolve) => socket.once("connect", resolve));
  return { socket, closed };
}

function heard(socket: Socket, text: string): Promise<void> {
  let all = "";
  return new Promise((resolve) =>
    socket.on("data", (chunk) => {
      all += chunk;
      if (all.endsWith(text)) resolve();
    })
  );
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
}

Deno.test("listen() hands an upgrade over with what came with it", async () => {
  const listener = await open();
  const { socket, closed } = await openSocket(listener.port);
  const echoed = heard(socket, "early and late");
  socket.write(`${OPENING}early`);
  socket.write(" and late");
  await echoed;
  assertEquals(listener.counts(), { open: 1, upgraded: 1, overAddressLimit: 0 });
  socket.end();
  await closed;
  await until(() => listener.counts().open === 0);
  assertEquals(listener.counts().upgraded, 0);
  await listener.close();
});

Deno.test("listen() without onUpgrade takes a request with Upgrade like any other", async () => {
  const listener = await open({ onUpgrade: undefined });
  const answer = await rawRequest(
    listener.port,
    `GET / HTTP/1.1\r\n${UPGRADE.replace("Upgrade\r\n", "Upgrade, close\r\n")}\r\n`,
  );
  assertStringIncludes(answer, "200 OK");
  assert(answer.endsWith("\r\n\r\nplain"), answer);
  await listener.close();
});

Deno.test("listen() hands an upgrade over only when the answers before it are complete", async () => {
  const go = Promise.withResolvers<void>();
  const upgraded: string[] = [];
  const listener = await open({
    handler: async () => {
      await go.promise;
      upgraded.push("answered");
      return new Response("first");
    },
    onUpgrade: (...call) => {
      upgraded.push("upgraded");
      echo(...call);
    },
  });
  const { socket, closed } = await openSocket(listener.port);
  const echoed = heard(socket, "x");
  socket.write(`GET / HTTP/1.1\r\nHost: x\r\n\r\n${OPENING}x`);
  await until(() => listener.counts().upgraded === 1);
  assertEquals(upgraded, []);
  go.resolve();
  await echoed;
  assertEquals(upgraded, ["answered", "upgraded"]);
  socket.destroy();
  const text = await closed;
  assert(text.indexOf("first") < text.indexOf("101 Switching"), text);
  await listener.close();
});

Deno.test("listen() refuses an upgrade that means two things, and one while it closes", async () => {
  const refused: number[] = [];
  const listener = await open({ onUnreadable: ({ status }) => refused.push(status) });
  const twice = await openSocket(listener.port);
  twice.socket.write(`GET /up HTTP/1.1\r\nHost: y\r\n${UPGRADE}\r\n`);
  const answer = await twice.closed;
  assertStringIncludes(answer, "HTTP/1.1 400 Bad Request\r\n");
  assertStringIncludes(answer, '"code":"invalid_request"');
  const kept = await openSocket(listener.port);
  const first = heard(kept.socket, "plain");
  kept.socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await first;
  const open1 = await openSocket(listener.port);
  const isOpen = heard(open1.socket, "\r\n\r\n");
  open1.socket.write(OPENING);
  await isOpen;
  const closing = listener.close(60_000);
  await kept.closed;
  await listener.close(0);
  await closing;
  await open1.closed;
  assertEquals([listener.counts().open, refused], [0, [400]]);
});

Deno.test("close() lets upgraded sockets be ended by whoever has them, and cuts them at the end of its grace", async () => {
  const sockets: { end(): void }[] = [];
  const listener = await open({
    onUpgrade: (request, socket, head) => {
      sockets.push(socket);
      echo(request, socket, head);
    },
  });
  const clients = [await openSocket(listener.port), await openSocket(listener.port)];
  for (const { socket } of clients) socket.write(OPENING);
  await until(() => listener.counts().upgraded === 2);
  const closed = listener.close(60_000);
  sockets[0]!.end();
  await Promise.race(clients.map((client) => client.closed));
  await until(() => listener.counts().upgraded === 1);
  await listener.close(0);
  await closed;
  await Promise.all(clients.map((client) => client.closed));
  assertEquals(listener.counts(), { open: 0, upgraded: 0, overAddressLimit: 0 });
});

Deno.test("listen() holds an upgraded socket to no time-out of requests", async () => {
  const listener = await open({ limits: { headersTimeoutMs: 30, requestTimeoutMs: 30 } });
  const { socket, closed } = await openSocket(listener.port);
  const isOpen = heard(socket, "\r\n\r\n");
  socket.write(OPENING);
  await isOpen;
  // Another connection that began later shows that the time-outs have passed and were looked at.
  const slow = await rawRequest(listener.port, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ");
  assertStringIncludes(slow, "408 ");
  await rawRequest(listener.port, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ");
  const echoed = heard(socket, "still here");
  socket.write("still here");
  await echoed;
  socket.destroy();
  await closed;
  await listener.close();
});

Deno.test("listen() survives clients that reset an upgraded socket nobody listens on", async () => {
  const listener = await open({ onUpgrade: () => {} });
  for (let round = 0; round < 20; round++) {
    const { socket, closed } = await openSocket(listener.port);
    socket.write(OPENING);
    await until(() => listener.counts().upgraded > 0);
    socket.resetAndDestroy();
    await closed;
    await until(() => listener.counts().open === 0);
  }
  assertEquals(await (await fetch(listener.url)).text(), "plain");
  await listener.close();
});

Deno.test("listen() closes further connections of one address, counts them, and takes new ones when there is room", async () => {
  const listener = await open({ limits: { maxConnectionsPerAddress: 3 } });
  const held = [];
  for (let at = 0; at < 3; at++) {
    const client = await openSocket(listener.port);
    const isOpen = heard(client.socket, "\r\n\r\n");
    client.socket.write(OPENING);
    await isOpen;
    held.push(client);
  }
  for (let at = 0; at < 2; at++) {
    const over = await openSocket(listener.port);
    over.socket.write(OPENING);
    assertEquals(await over.closed, "");
  }
  assertEquals(listener.counts(), { open: 3, upgraded: 3, overAddressLimit: 2 });
  // Another address of this machine.
  const other = connect({ port: listener.port, host: "127.0.0.1", localAddress: "127.0.0.2" });
  const isOpen = heard(other, "\r\n\r\n");
  other.write(OPENING);
  await isOpen;
  other.destroy();
  held[0]!.socket.destroy();
  await until(() => listener.counts().open === 2);
  const again = await openSocket(listener.port);
  const isOpenAgain = heard(again.socket, "\r\n\r\n");
  again.socket.write(OPENING);
  await isOpenAgain;
  await listener.close();
});

Deno.test("close() of a port that is full ends what is open, and lets nobody in any more", async () => {
  for (const graceMs of [0, 60_000]) {
    const changes: string[] = [];
    const listener = await open({
      limits: { maxConnections: 2 },
      onPortChange: ({ kind }) => changes.push(kind),
    });
    const clients = [];
    for (let at = 0; at < 2; at++) {
      const client = await openSocket(listener.port);
      const isOpen = heard(client.socket, "\r\n\r\n");
      client.socket.write(OPENING);
      await isOpen;
      clients.push(client);
    }
    assertEquals(changes, ["full"]);
    // Both go on while the port is closed.
    for (const { socket } of clients) {
      const echoed = heard(socket, "still here");
      socket.write("still here");
      await echoed;
    }
    const closed = listener.close(graceMs);
    if (graceMs > 0) { for (const { socket } of clients) socket.end(); }
    await closed;
    await Promise.all(clients.map((client) => client.closed));
    assertEquals(listener.counts().open, 0);
    await assertRejects(() => Deno.connect({ hostname: "127.0.0.1", port: listener.port }));
    assertEquals(changes, ["full"]);
  }
});
