import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ManualClock } from "../../../lib/http/testing/manual_clock.ts";
import type { SocketAdmission } from "../../../lib/channel/socket_host.ts";
import {
  closeOf,
  messageOf,
  openClient,
  openTestSocket,
  PEER,
  RawClient,
  rawFrame,
  until,
  UPGRADE,
} from "./testing/test_socket.ts";

type Answer = Awaited<ReturnType<SocketAdmission["admit"]>>;

const OPENING = `GET / HTTP/1.1\r\nHost: localhost\r\n${UPGRADE}\r\n`;

/** An admission that a test decides by hand. */
function heldAdmission() {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Answer>();
  const admit = () => {
    asked.resolve();
    return answer.promise;
  };
  return { admit, asked: asked.promise, answer };
}

Deno.test("SocketServer lets a client in, hears it and answers", async () => {
  await using test = await openTestSocket();
  const client = await openClient(test.url);
  client.send("hällo 🙂");
  assertEquals(await messageOf(client), { event: "error", detail: "hällo 🙂" });
  client.send(new Uint8Array([1, 2, 255]));
  assertEquals((await messageOf(client)).detail, "binary 1 2 255");
  const [connection] = test.connections;
  assertEquals([connection!.peer, connection!.peerAddress], [PEER, "127.0.0.1"]);
  const closed = closeOf(client);
  client.close(1000, "bye");
  assertEquals(await closed, { code: 1000, reason: "bye" });
  await until(() => connection!.closed.aborted);
  assertEquals(test.server.counts().open, 0);
});

Deno.test("SocketServer selects the subprotocol of the admission, and no other", async () => {
  for (const protocol of ["service.v1", undefined]) {
    await using test = await openTestSocket({
      admit: () => Promise.resolve({ peer: PEER, protocol }),
    });
    const client = await RawClient.open(test.port);
    client.write(
      OPENING.replace("\r\n\r\n", "\r\nSec-WebSocket-Protocol: other, service.v1\r\n\r\n"),
    );
    const head = await client.head();
    assertEquals(head.match(/sec-websocket-protocol: (.*)\r\n/i)?.[1], protocol);
    client.socket.destroy();
  }
});

Deno.test("SocketServer refuses over the socket as the admission says", async () => {
  const body = JSON.stringify({ error: { message: "nö" } });
  await using test = await openTestSocket({
    admit: () => Promise.resolve({ status: 401, body, headers: { "WWW-Authenticate": "Bearer" } }),
  });
  const client = await RawClient.open(test.port);
  client.write(OPENING);
  // Sent early and never read by anybody.
  client.frame({ opcode: 1, payload: "x".repeat(100_000) });
  const answer = await client.rest();
  assertStringIncludes(answer, "HTTP/1.1 401 Unauthorized\r\n");
  assertStringIncludes(answer, "Content-Type: application/json\r\n");
  assertStringIncludes(answer, `Content-Length: ${new TextEncoder().encode(body).length}\r\n`);
  assertStringIncludes(answer, "WWW-Authenticate: Bearer\r\n");
  assert(answer.endsWith(`\r\n\r\n${body}`));
  await until(() => test.listener.counts().open === 0);
  assertEquals(test.server.counts().refused, 1);
});

Deno.test("SocketServer hears what a client sent before it was let in, in order", async () => {
  const { admit, asked, answer } = heldAdmission();
  await using test = await openTestSocket({ admit });
  const client = await RawClient.open(test.port);
  const first = new TextDecoder("latin1").decode(rawFrame({ opcode: 1, payload: "1" }));
  client.socket.write(OPENING + first, "latin1");
  await asked;
  client.frame({ opcode: 1, payload: "2" });
  client.frame({ opcode: 1, payload: "3".repeat(300_000) });
  assertEquals(test.server.counts().admitting, 1);
  answer.resolve({ peer: PEER });
  assertStringIncludes(await client.head(), "101");
  for (const length of [1, 1, 300_000]) {
    const frame = await client.next();
    assertEquals(JSON.parse(new TextDecoder().decode(frame!.payload)).detail.length, length);
  }
  client.socket.destroy();
});

for (const leave of ["end", "destroy", "resetAndDestroy"] as const) {
  Deno.test(`SocketServer forgets a client that leaves by ${leave} before it is let in`, async () => {
    const { admit, asked, answer } = heldAdmission();
    await using test = await openTestSocket({ admit });
    const client = await RawClient.open(test.port);
    client.write(OPENING);
    await asked;
    client.socket[leave]();
    await until(() => test.server.counts().admitting === 0 && test.listener.counts().open === 0);
    answer.resolve({ peer: PEER });
    await answer.promise;
    assertEquals(test.connections, []);
    assertEquals(test.listener.counts(), { open: 0, upgraded: 0, overAddressLimit: 0 });
  });
}

Deno.test("SocketServer gives an admission 15 s, then 503, and ignores what it says later", async () => {
  const clock = new ManualClock();
  const { admit, asked, answer } = heldAdmission();
  await using test = await openTestSocket({ admit, clock });
  const client = await RawClient.open(test.port);
  client.write(OPENING);
  await asked;
  clock.advance(15_000);
  const said = await client.rest();
  assertStringIncludes(said, "HTTP/1.1 503 ");
  answer.resolve({ peer: PEER });
  await answer.promise;
  assertEquals([test.connections.length, test.server.counts().admitting], [0, 0]);
});

Deno.test("SocketServer answers 500 without the reason when an admission fails", async () => {
  for (
    const admit of [() => Promise.reject(new Error("secret")), () => {
      throw new Error("secret");
    }]
  ) {
    await using test = await openTestSocket({ admit });
    const client = await RawClient.open(test.port);
    client.write(OPENING);
    const said = await client.rest();
    assertStringIncludes(said, "HTTP/1.1 500 ");
    assert(!said.includes("secret"));
    assertStringIncludes(test.log.lines.join(), "secret");
  }
});

Deno.test("close() refuses those who wait, says 1001 to those who are in, and cuts who does not answer", async () => {
  const { admit, asked, answer } = heldAdmission();
  let isHeld = false;
  await using test = await openTestSocket({
    admit: () => isHeld ? admit() : Promise.resolve({ peer: PEER }),
  });
  const polite = await openClient(test.url);
  const deaf = await RawClient.upgraded(test.port);
  isHeld = true;
  const waiting = await RawClient.open(test.port);
  waiting.write(OPENING);
  await asked;
  const closed = closeOf(polite);
  const done = test.server.close(60_000);
  assertStringIncludes(await waiting.rest(), "HTTP/1.1 503 ");
  assertEquals((await closed).code, 1001);
  assertEquals(await deaf.closeCode(), 1001);
  const late = await RawClient.open(test.port);
  late.write(OPENING);
  assertStringIncludes(await late.rest(), "HTTP/1.1 503 ");
  assertEquals(test.server.counts().open, 1);
  await test.server.close(0);
  await done;
  answer.resolve({ peer: PEER });
  await answer.promise;
  await until(() => test.listener.counts().open === 0);
  assertEquals([test.server.counts().open, test.server.counts().admitting], [0, 0]);
});

Deno.test("close() of a connection sends what was queued, then the code, and cuts who does not answer", async () => {
  const clock = new ManualClock();
  await using test = await openTestSocket({ clock });
  const client = await RawClient.upgraded(test.port);
  const [connection] = test.connections;
  const { OutFrame } = await import("./out_frame.ts");
  const frames = 200;
  for (let seq = 1; seq <= frames; seq++) {
    connection!.send(new OutFrame({ event: "error", detail: "x".repeat(10_000) }));
  }
  connection!.close(4001, "🙂".repeat(100));
  connection!.send(new OutFrame({ event: "pong" }));
  let received = 0;
  let frame = await client.next();
  for (; frame?.opcode === 1; frame = await client.next()) received++;
  assertEquals([received, frame?.opcode], [frames, 8]);
  assertEquals(new TextDecoder().decode(frame!.payload.subarray(2)), "🙂".repeat(30));
  assertEquals(connection!.closed.aborted, false);
  clock.advance(10_000);
  await client.closed;
  await until(() => connection!.closed.aborted);
});

Deno.test("SocketServer closes with 1011 when a message cannot be worked on, and says why in the log alone", async () => {
  for (const isLate of [true, false]) {
    await using test = await openTestSocket({
      onConnection: (connection) =>
        connection.onMessage(() => {
          if (isLate) return Promise.reject(new Error("broken inside"));
          throw new Error("broken inside");
        }),
    });
    const client = await openClient(test.url);
    const closed = closeOf(client);
    client.send("x");
    assertEquals(await closed, { code: 1011, reason: "Internal error" });
    assertStringIncludes(test.log.lines.join(), "broken inside");
  }
});

Deno.test("SocketServer cuts a client that says goodbye and does not go", async () => {
  await using test = await openTestSocket();
  const client = await RawClient.upgraded(test.port);
  client.socket.allowHalfOpen = true;
  client.frame({ opcode: 8, payload: new Uint8Array([3, 232]) });
  assertEquals(await client.closeCode(), 1000);
  client.socket.end();
  await until(() => test.listener.counts().open === 0);
});
