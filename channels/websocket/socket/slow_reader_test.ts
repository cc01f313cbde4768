import { assert, assertEquals } from "@std/assert";
import { ManualClock } from "../../../lib/http/testing/manual_clock.ts";
import { OutFrame } from "./out_frame.ts";
import { closeOf, openClient, openTestSocket, RawClient, until } from "./testing/test_socket.ts";

const READERS = 50;

Deno.test("a reader that stops reading is closed with 1013 and delays none of 50 others (W13)", async () => {
  await using test = await openTestSocket({ onConnection: () => {} });
  const readers = await Promise.all(
    Array.from({ length: READERS }, async () => {
      const client = await openClient(test.url);
      const seen = { seq: 0, client };
      client.on("message", (data) => {
        const { seq } = JSON.parse(String(data));
        assertEquals(seq, seen.seq + 1);
        seen.seq = seq;
      });
      return seen;
    }),
  );
  const others = [...test.connections];
  const stuck = await RawClient.upgraded(test.port);
  const connection = test.connections.at(-1)!;
  stuck.socket.pause();
  const text = "x".repeat(64_000);
  let seq = 0;
  let maxHeldBytes = 0;
  while (test.server.counts().troubles.slow_reader === 0) {
    const frame = new OutFrame({
      event: "stream_end",
      chat_id: "c",
      turn_id: text,
      stream_id: "s",
      seq: ++seq,
      resuming: false,
    });
    for (const one of test.connections) one.send(frame);
    const { bytes, frames } = (connection as unknown as { held: { bytes: number; frames: number } })
      .held;
    maxHeldBytes = Math.max(maxHeldBytes, bytes);
    assert(frames <= 256, `${frames} frames`);
    await until(() => readers.every((reader) => reader.seq === seq));
    assert(seq < 2_000, "the stuck reader was never noticed");
  }
  assert(maxHeldBytes <= 8 * 1024 * 1024, `${maxHeldBytes} bytes were held`);
  assertEquals(others.filter(({ closed }) => closed.aborted), []);
  assertEquals(test.server.counts().troubles, {
    slow_reader: 1,
    dead_peer: 0,
    protocol_error: 0,
    overloaded: 0,
    failed: 0,
  });
  // What was written before it can still be read, and the code after it: the client knows to resume.
  stuck.socket.resume();
  assertEquals(await stuck.closeCode(), 1013);
  stuck.socket.end();
  await until(() => connection.closed.aborted);
});

Deno.test("a stuck reader that does not read its 1013 is cut", async () => {
  const clock = new ManualClock();
  await using test = await openTestSocket({ clock, onConnection: () => {} });
  const stuck = await RawClient.upgraded(test.port);
  const connection = test.connections[0]!;
  stuck.socket.pause();
  const frame = new OutFrame({ event: "error", detail: "x".repeat(1_000_000) });
  while (test.server.counts().troubles.slow_reader === 0) {
    connection.send(frame);
    await new Promise((resolve) => setImmediate(resolve));
  }
  clock.advance(10_000);
  await until(() => connection.closed.aborted && test.listener.counts().open === 0);
  assertEquals(test.server.counts().open, 0);
  stuck.socket.destroy();
});

Deno.test("whenDrained() lets a replay of any length go at the client's pace", async () => {
  const frames = 3_000;
  await using test = await openTestSocket({
    async onConnection(connection) {
      const detail = "x".repeat(5_000);
      for (let at = 0; at < frames; at++) {
        connection.send(new OutFrame({ event: "error", detail }));
        await connection.whenDrained();
      }
      connection.close(1000, "");
    },
  });
  const client = await openClient(test.url);
  let received = 0;
  client.on("message", () => received++);
  client.pause();
  await new Promise((resolve) => setTimeout(resolve, 20));
  client.resume();
  assertEquals((await closeOf(client)).code, 1000);
  assertEquals([received, test.server.counts().troubles.slow_reader], [frames, 0]);
});
