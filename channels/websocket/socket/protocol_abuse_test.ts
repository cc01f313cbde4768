import { assert, assertEquals } from "@std/assert";
import { randomBytes } from "node:crypto";
import { deflateRawSync } from "node:zlib";
import { openTestSocket, RawClient, type RawFrame, rawFrame } from "./testing/test_socket.ts";

const TEXT = 1, BINARY = 2, CLOSE = 8, PING = 9, PONG = 10;

/** A character of four bytes, cut in the middle. */
const HALF = new Uint8Array([0xf0, 0x9f]);
const OTHER_HALF = new Uint8Array([0x99, 0x82]);

function close(code: number, reason: string | Uint8Array = ""): RawFrame {
  const text = typeof reason === "string" ? new TextEncoder().encode(reason) : reason;
  return { opcode: CLOSE, payload: new Uint8Array([code >> 8, code & 255, ...text]) };
}

/** What a client says, and the code that it is answered with (RFC 6455, 5, 7.4 and 8.1). */
const ABUSES: Record<string, { frames: RawFrame[]; code: number; deflate?: true }> = {
  "an unmasked text": { frames: [{ opcode: TEXT, payload: "x", masked: false }], code: 1002 },
  "an unmasked ping": { frames: [{ opcode: PING, masked: false }], code: 1002 },
  "an unmasked close": { frames: [{ ...close(1000), masked: false }], code: 1002 },
  "RSV1 without an extension": { frames: [{ opcode: TEXT, rsv: 4, payload: "x" }], code: 1002 },
  "RSV2": { frames: [{ opcode: TEXT, rsv: 2, payload: "x" }], code: 1002 },
  "RSV3": { frames: [{ opcode: TEXT, rsv: 1, payload: "x" }], code: 1002 },
  "all reserved bits": { frames: [{ opcode: BINARY, rsv: 7 }], code: 1002 },
  "RSV on a ping": { frames: [{ opcode: PING, rsv: 4 }], code: 1002 },
  "RSV on a continuation": {
    frames: [{ opcode: TEXT, fin: false, payload: "a" }, { opcode: 0, rsv: 4, payload: "b" }],
    code: 1002,
  },
  "a ping that is not whole": { frames: [{ opcode: PING, fin: false }], code: 1002 },
  "a close that is not whole": { frames: [{ ...close(1000), fin: false }], code: 1002 },
  "a ping of 126 bytes": { frames: [{ opcode: PING, payload: "x".repeat(126) }], code: 1002 },
  "a pong of 64 KiB": { frames: [{ opcode: PONG, payload: "x".repeat(65_536) }], code: 1002 },
  "a close of 126 bytes": { frames: [close(1000, "x".repeat(124))], code: 1002 },
  "a close of one byte": { frames: [{ opcode: CLOSE, payload: "x" }], code: 1002 },
  "a close with text that is no UTF-8": { frames: [close(1000, HALF)], code: 1007 },
  "a continuation of nothing": { frames: [{ opcode: 0, payload: "x" }], code: 1002 },
  "a last continuation twice": {
    frames: [
      { opcode: TEXT, fin: false, payload: "a" },
      { opcode: 0, payload: "b" },
      { opcode: 0, payload: "c" },
    ],
    code: 1002,
  },
  "a message inside another": {
    frames: [{ opcode: TEXT, fin: false, payload: "a" }, { opcode: TEXT, payload: "b" }],
    code: 1002,
  },
  "a text that is no UTF-8": {
    frames: [{ opcode: TEXT, payload: new Uint8Array([0xc3, 0x28]) }],
    code: 1007,
  },
  "a surrogate in UTF-8": {
    frames: [{ opcode: TEXT, payload: new Uint8Array([0xed, 0xa0, 0x80]) }],
    code: 1007,
  },
  "an overlong slash": {
    frames: [{ opcode: TEXT, payload: new Uint8Array([0xc0, 0xaf]) }],
    code: 1007,
  },
  "a character beyond Unicode": {
    frames: [{ opcode: TEXT, payload: new Uint8Array([0xf4, 0x90, 0x80, 0x80]) }],
    code: 1007,
  },
  "a character that ends in another fragment as no character": {
    frames: [{ opcode: TEXT, fin: false, payload: HALF }, { opcode: 0, payload: "x" }],
    code: 1007,
  },
  "a text that ends in a half character": { frames: [{ opcode: TEXT, payload: HALF }], code: 1007 },
  "a length of 2^63": { frames: [{ opcode: BINARY, length: 2 ** 63 }], code: 1009 },
  "compressed bytes that are not": {
    frames: [{ opcode: TEXT, rsv: 4, payload: new Uint8Array([0xff, 0xff, 0xff]) }],
    code: 1007,
    deflate: true,
  },
  "a compressed ping": { frames: [{ opcode: PING, rsv: 4 }], code: 1002, deflate: true },
  "a compressed text that is no UTF-8": {
    frames: [{ opcode: TEXT, rsv: 4, payload: deflated(HALF) }],
    code: 1007,
    deflate: true,
  },
  ...Object.fromEntries(
    [3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map((opcode) => [`opcode ${opcode}`, {
      frames: [{ opcode, payload: "x" }],
      code: 1002,
    }]),
  ),
  ...Object.fromEntries(
    [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535].map((code) => [
      `a close with the code ${code}`,
      { frames: [close(code)], code: 1002 },
    ]),
  ),
};

/** A message as permessage-deflate has it (RFC 7692, 7.2.1). */
function deflated(bytes: Uint8Array): Uint8Array {
  const whole = deflateRawSync(bytes, { finishFlush: 2 });
  return new Uint8Array(whole.subarray(0, whole.length - 4));
}

const OFFER = "Sec-WebSocket-Extensions: permessage-deflate\r\n";

for (const [name, { frames, code, deflate }] of Object.entries(ABUSES)) {
  Deno.test(`SocketServer answers ${name} with ${code}, and ends`, async () => {
    await using test = await openTestSocket();
    const client = await RawClient.upgraded(test.port, deflate && OFFER);
    const { closed } = test.connections[0]!;
    for (const frame of frames) client.frame(frame);
    client.frame({ opcode: TEXT, payload: "after" });
    assertEquals(await client.closeCode(), code);
    client.socket.end();
    await client.closed;
    if (!closed.aborted) await new Promise((resolve) => closed.addEventListener("abort", resolve));
    assertEquals(test.server.counts().troubles.protocol_error, 1);
    assertEquals(test.server.counts().open, 0);
  });
}

Deno.test("SocketServer reads frames at every cut, however small the pieces", async () => {
  await using test = await openTestSocket();
  const client = await RawClient.upgraded(test.port);
  client.socket.setNoDelay(true);
  const bytes = [
    rawFrame({ opcode: TEXT, fin: false, payload: HALF }),
    rawFrame({ opcode: PING, payload: "between" }),
    rawFrame({ opcode: 0, fin: false }),
    rawFrame({ opcode: 0, payload: OTHER_HALF }),
    rawFrame({ opcode: BINARY, payload: "x".repeat(126) }),
  ];
  for (const frame of bytes) {
    for (const byte of frame) {
      client.write(Uint8Array.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  const pong = await client.next();
  assertEquals([pong!.opcode, new TextDecoder().decode(pong!.payload)], [PONG, "between"]);
  const text = await client.next();
  assertEquals(JSON.parse(new TextDecoder().decode(text!.payload)).detail, "🙂");
  assert((await client.next()) !== undefined);
  client.socket.destroy();
});

Deno.test("SocketServer takes every close code that a client may send", async () => {
  await using test = await openTestSocket();
  for (const code of [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4999]) {
    const client = await RawClient.upgraded(test.port);
    client.frame(close(code, "reason 🙂"));
    assertEquals(await client.closeCode(), code);
    client.socket.end();
  }
  const client = await RawClient.upgraded(test.port);
  client.frame({ opcode: CLOSE });
  assertEquals(await client.closeCode(), 1005);
  client.socket.end();
  assertEquals(test.server.counts().troubles.protocol_error, 0);
});

Deno.test("SocketServer answers empty messages, pongs that nobody asked for, and max pings", async () => {
  await using test = await openTestSocket();
  const client = await RawClient.upgraded(test.port);
  client.frame({ opcode: PONG, payload: "unasked" });
  client.frame({ opcode: TEXT });
  client.frame({ opcode: PING, payload: "x".repeat(125) });
  const frames = [await client.next(), await client.next()];
  assertEquals(frames.map((frame) => frame!.opcode).toSorted(), [TEXT, PONG]);
  client.socket.destroy();
});

Deno.test("SocketServer answers more than maxMessageBytes with 1009, whole, in fragments and announced", async () => {
  await using test = await openTestSocket({ maxMessageBytes: 2_000 });
  const whole = await RawClient.upgraded(test.port);
  whole.frame({ opcode: TEXT, payload: "x".repeat(2_001) });
  assertEquals(await whole.closeCode(), 1009);
  const fragments = await RawClient.upgraded(test.port);
  fragments.frame({ opcode: TEXT, fin: false, payload: "x".repeat(1_500) });
  fragments.frame({ opcode: 0, fin: false, payload: "x".repeat(501) });
  assertEquals(await fragments.closeCode(), 1009);
  const announced = await RawClient.upgraded(test.port);
  announced.write(rawFrame({ opcode: BINARY, length: 2_001 }).subarray(0, 8));
  assertEquals(await announced.closeCode(), 1009);
  const exact = await RawClient.upgraded(test.port);
  exact.frame({ opcode: TEXT, payload: "x".repeat(2_000) });
  assertEquals((await exact.next())!.opcode, TEXT);
  for (const client of [whole, fragments, announced, exact]) client.socket.destroy();
});

Deno.test("SocketServer takes what a client compresses, and answers more than maxMessageBytes in it with 1009", async () => {
  await using test = await openTestSocket({ maxMessageBytes: 2_000 });
  const client = await RawClient.upgraded(test.port, OFFER);
  for (const length of [2_000, 1_999]) {
    const payload = deflated(new TextEncoder().encode("x".repeat(length)));
    client.frame({ opcode: TEXT, rsv: 4, payload });
    const answer = await client.next();
    assertEquals(JSON.parse(new TextDecoder().decode(answer!.payload)).detail.length, length);
  }
  const bomb = deflated(new Uint8Array(2_001).fill(120));
  client.frame({ opcode: TEXT, rsv: 4, payload: bomb });
  assertEquals(await client.closeCode(), 1009);
  client.socket.destroy();
  const inFragments = await RawClient.upgraded(test.port, OFFER);
  inFragments.frame({ opcode: TEXT, rsv: 4, fin: false, payload: bomb.subarray(0, 2) });
  inFragments.frame({ opcode: 0, payload: bomb.subarray(2) });
  assertEquals(await inFragments.closeCode(), 1009);
  inFragments.socket.destroy();
});

Deno.test("SocketServer survives random bytes after the handshake", async () => {
  await using test = await openTestSocket();
  for (let round = 0; round < 60; round++) {
    const client = await RawClient.upgraded(test.port, round % 2 ? OFFER : "");
    client.write(randomBytes(1 + round * 97));
    client.socket.end();
    await client.closed;
  }
  const sane = await RawClient.upgraded(test.port);
  sane.frame({ opcode: TEXT, payload: "still here" });
  assertEquals((await sane.next())!.opcode, TEXT);
  sane.socket.destroy();
});
