import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { constants, deflateRawSync } from "node:zlib";
import type { SocketCounts } from "./socket_server.ts";
import { openClient, openTestSocket, RawClient, rawFrame, until } from "./testing/test_socket.ts";
import { lockedFlags } from "../../../lib/packages/locked_packages.ts";
import { rounds } from "../../../tests/support/rounds.ts";

const MIB = 1024 * 1024;
const OFFER = "Sec-WebSocket-Extensions: permessage-deflate\r\n";

/** A server in a process of its own. */
class ServerProcess implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #lines: ReadableStreamDefaultReader<string>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;

  constructor(maxMessageBytes: number) {
    const entry = new URL("./testing/serve_bombs.ts", import.meta.url).pathname;
    this.#child = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--cached-only",
        ...lockedFlags(),
        "--no-check",
        entry,
        `${maxMessageBytes}`,
      ],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    this.#lines = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    this.#writer = this.#child.stdin.getWriter();
  }

  async line() {
    return JSON.parse((await this.#lines.read()).value!);
  }

  async counts(): Promise<SocketCounts & { peakBytes: number }> {
    await this.#writer.write(new TextEncoder().encode("\n"));
    return this.line();
  }

  async [Symbol.asyncDispose]() {
    await this.#writer.close();
    await this.#lines.cancel();
    await this.#child.status;
  }
}

Deno.test("compressed bombs end with 1009 each, and cost the server a few messages at most", async () => {
  const maxMessageBytes = 8 * MIB;
  const bomb = deflateRawSync(Buffer.alloc(rounds(1_024, 128) * MIB), {
    finishFlush: constants.Z_SYNC_FLUSH,
  });
  await using server = new ServerProcess(maxMessageBytes);
  const port = await server.line();
  const before = await server.counts();
  const clients = await Promise.all(
    Array.from({ length: 20 }, () => RawClient.upgraded(port, OFFER)),
  );
  for (const client of clients) client.frame({ opcode: 2, rsv: 4, payload: bomb });
  const codes = await Promise.all(clients.map((client) => client.closeCode()));
  assertEquals(codes, clients.map(() => 1009));
  for (const client of clients) client.socket.end();
  const { troubles, inboundBytes, peakBytes } = await server.counts();
  assertEquals([troubles.protocol_error, inboundBytes], [20, 0]);
  // The bombs themselves, as they came, and what zlib and the collector leave for later.
  const grownBytes = peakBytes - before.peakBytes;
  assert(grownBytes < 300 * MIB, `the server grew by ${grownBytes / MIB} MiB`);
});

Deno.test("a message over the bound is never held: plain, in fragments, or announced alone", async () => {
  await using server = new ServerProcess(8 * MIB);
  const port = await server.line();
  const before = await server.counts();
  const piece = Buffer.alloc(MIB, 120);
  for (let round = 0; round < 10; round++) {
    const client = await RawClient.upgraded(port);
    if (round % 2 === 0) {
      client.write(rawFrame({ opcode: 2, payload: new Uint8Array(), length: 1024 * MIB }));
    } else {
      for (let at = 0; at < 9; at++) {
        client.frame({ opcode: at === 0 ? 2 : 0, fin: false, payload: piece });
      }
    }
    assertEquals(await client.closeCode(), 1009);
    client.socket.destroy();
  }
  const { peakBytes, inboundBytes } = await server.counts();
  assertEquals(inboundBytes, 0);
  const grownBytes = peakBytes - before.peakBytes;
  assert(grownBytes < 200 * MIB, `the server grew by ${grownBytes / MIB} MiB`);
});

/** How a client comes and goes. */
const VISITS: ((test: { port: number; url: string }) => Promise<void>)[] = [
  async ({ url }) => (await openClient(url)).terminate(),
  async ({ url }) => {
    const client = await openClient(url);
    const closed = new Promise((resolve) => client.once("close", resolve));
    client.send("hello");
    client.close();
    await closed;
  },
  async ({ port }) => (await RawClient.upgraded(port)).socket.resetAndDestroy() && undefined,
  async ({ port }) => {
    const client = await RawClient.upgraded(port, OFFER);
    client.write(rawFrame({ opcode: 2, rsv: 4, fin: false, payload: "half of something" }));
    client.socket.end();
    await client.closed;
  },
  async ({ port }) => {
    const client = await RawClient.upgraded(port);
    client.frame({ opcode: 3 });
    client.socket.end();
    await client.closed;
  },
  async ({ port }) => {
    const client = await RawClient.open(port);
    client.write(
      "GET /none HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
    await client.closed;
  },
  async ({ port }) => {
    const client = await RawClient.open(port);
    client.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n");
    client.socket.destroy();
  },
];

const VISITORS = rounds(1_000, 200);

Deno.test("clients that come and go, in every way, leave nothing behind", async () => {
  await using test = await openTestSocket();
  const ended: boolean[] = [];
  for (let round = 0; round < VISITORS; round += 20) {
    await Promise.all(
      Array.from({ length: 20 }, (_, at) => VISITS[(round + at) % VISITS.length]!(test)),
    );
  }
  await until(() => test.listener.counts().open === 0 && test.server.counts().open === 0);
  const { admitting, inboundBytes, opened, refused, troubles } = test.server.counts();
  assertEquals({ admitting, inboundBytes }, { admitting: 0, inboundBytes: 0 });
  assert(
    opened > 0.6 * VISITORS && refused > 0.1 * VISITORS,
    `${opened} opened, ${refused} refused`,
  );
  assert(troubles.protocol_error > 0.1 * VISITORS);
  assertEquals([troubles.failed, troubles.dead_peer, troubles.slow_reader], [0, 0, 0]);
  for (const { closed } of test.connections) ended.push(closed.aborted);
  assertEquals(ended.includes(false), false);
  assertEquals(test.listener.counts(), { open: 0, upgraded: 0, overAddressLimit: 0 });
});
