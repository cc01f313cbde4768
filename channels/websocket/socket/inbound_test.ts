import { assert, assertEquals } from "@std/assert";
import { ManualClock } from "../../../lib/http/testing/manual_clock.ts";
import type { Connection } from "./connection.ts";
import { MAX_IN_HAND } from "./inbox.ts";
import {
  closeOf,
  openClient,
  openTestSocket,
  RawClient,
  rawFrame,
  until,
} from "./testing/test_socket.ts";

/** What a connection holds; a test may look. */
function heldBy(connection: Connection): { inboundBytes: number } {
  return (connection as unknown as { held: { inboundBytes: number } }).held;
}

Deno.test("a client whose messages are worked on is not read from beyond a bound, and loses nothing", async () => {
  const works: (() => void)[] = [];
  const heard: number[] = [];
  await using test = await openTestSocket({
    onConnection: (connection) =>
      connection.onMessage((message) => {
        heard.push((message as { text: string }).text.length);
        return new Promise((resolve) => works.push(resolve));
      }),
  });
  const client = await RawClient.upgraded(test.port);
  const total = 400;
  const size = 100_000;
  let isFlushed = false;
  for (let at = 0; at < total; at++) {
    const frame = rawFrame({ opcode: 1, payload: "x".repeat(size + at) });
    client.socket.write(frame, () => isFlushed = at === total - 1);
  }
  await until(() => works.length === MAX_IN_HAND);
  // Many turns of the event loop later, still no more than that was read.
  for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
  assertEquals(heard.length, MAX_IN_HAND);
  assertEquals(isFlushed, false);
  const held = heldBy(test.connections[0]!).inboundBytes;
  assert(held < (MAX_IN_HAND + 2) * (size + total), `${held} bytes are held`);
  const counted = test.server.counts().inboundBytes;
  assert(Math.abs(counted - held) < 1_000, `${counted} bytes are counted of ${held}`);
  while (heard.length < total) {
    works.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  assertEquals(heard, Array.from({ length: total }, (_, at) => size + at));
  for (const done of works) done();
  client.socket.destroy();
  await until(() => test.server.counts().open === 0);
  assertEquals(test.server.counts().inboundBytes, 0);
});

Deno.test("messages on their way in are bounded over all connections; the one too many gets 1013", async () => {
  await using test = await openTestSocket({
    maxMessageBytes: 2_000_000,
    limits: { maxInboundBytes: 3_000_000 },
  });
  const frame = rawFrame({ opcode: 2, payload: "x".repeat(1_500_000) });
  const clients: RawClient[] = [];
  const isOver = () => test.server.counts().troubles.overloaded > 0;
  for (let at = 1; !isOver(); at++) {
    const client = await RawClient.upgraded(test.port);
    clients.push(client);
    client.write(frame.subarray(0, 1_200_000));
    await until(() => test.server.counts().inboundBytes >= at * 1_199_000 || isOver());
  }
  const last = clients.pop()!;
  assertEquals(await last.closeCode(), 1013);
  last.socket.destroy();
  assertEquals([clients.length, test.server.counts().troubles.overloaded], [2, 1]);
  for (const client of clients) client.socket.destroy();
  await until(() => test.server.counts().open === 0);
  assertEquals(test.server.counts().inboundBytes, 0);
});

Deno.test("fragments that never end are counted, compressed ones too", async () => {
  await using test = await openTestSocket();
  for (const extension of ["", "Sec-WebSocket-Extensions: permessage-deflate\r\n"]) {
    const client = await RawClient.upgraded(test.port, extension);
    const rsv = extension === "" ? 0 : 4;
    client.frame({ opcode: 2, rsv, fin: false, payload: "x".repeat(100_000) });
    client.frame({ opcode: 0, fin: false, payload: "x".repeat(100_000) });
    client.frame({ opcode: 9 });
    assertEquals((await client.next())!.opcode, 10);
    assertEquals(heldBy(test.connections.at(-1)!).inboundBytes, 200_000);
    client.socket.destroy();
    await until(() => test.server.counts().open === 0);
  }
});

Deno.test("a peer that answers no ping is cut, and one that does stays", async () => {
  const clock = new ManualClock();
  await using test = await openTestSocket({ clock, pingIntervalMs: 800, pingTimeoutMs: 800 });
  const alive = await openClient(test.url);
  const silent = await openClient(test.url, { autoPong: false });
  const closed = closeOf(silent);
  let pings = 0;
  silent.on("ping", () => pings++);
  const pinged = () => new Promise((resolve) => alive.once("ping", resolve));
  for (let beat = 0; beat < 2; beat++) {
    const next = pinged();
    clock.advance(800);
    await next;
    // The pong comes before what is said after it.
    alive.send("after the pong");
    await new Promise((resolve) => alive.once("message", resolve));
  }
  assertEquals((await closed).code, 1006);
  assertEquals([pings, test.server.counts().troubles.dead_peer], [1, 1]);
  await until(() => test.server.counts().open === 1);
  alive.terminate();
});

Deno.test("a half-open peer is cut although the network never says a word", async () => {
  const clock = new ManualClock();
  await using test = await openTestSocket({ clock, pingIntervalMs: 800, pingTimeoutMs: 800 });
  // A wire that carries nothing any more, and tells neither end.
  const { createServer, connect } = await import("node:net");
  const wires: import("node:net").Socket[] = [];
  const proxy = createServer((near) => {
    const far = connect(test.port, "127.0.0.1");
    wires.push(near, far);
    near.pipe(far);
    far.pipe(near);
    for (const end of [near, far]) end.on("error", () => {});
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", () => resolve()));
  const { port } = proxy.address() as { port: number };
  const client = await openClient(`ws://127.0.0.1:${port}/`);
  const [connection] = test.connections;
  for (const wire of wires) wire.unpipe().pause();
  clock.advance(1_700);
  await until(() => connection!.closed.aborted);
  assertEquals(test.server.counts().troubles.dead_peer, 1);
  client.terminate();
  for (const wire of wires) wire.destroy();
  await new Promise((resolve) => proxy.close(resolve));
});

Deno.test("a client in the middle of a long message is no dead peer, and one that stops in it is", async () => {
  const clock = new ManualClock();
  await using test = await openTestSocket({ clock, pingIntervalMs: 800, pingTimeoutMs: 800 });
  const client = await RawClient.upgraded(test.port);
  const [connection] = test.connections;
  const frame = rawFrame({ opcode: 2, payload: "x".repeat(500_000) });
  for (let at = 0; at < 400_000; at += 20_000) {
    client.write(frame.subarray(at, at + 20_000));
    await until(() => heldBy(connection!).inboundBytes >= at + 19_000);
    clock.advance(400);
  }
  assertEquals(connection!.closed.aborted, false);
  clock.advance(1_700);
  await until(() => connection!.closed.aborted);
  assertEquals(test.server.counts().troubles.dead_peer, 1);
});
