import { assertEquals } from "@std/assert";
import { connect, createServer, type Socket } from "node:net";
import { ManualClock } from "../http/testing/manual_clock.ts";
import { refuseUpgrade } from "./refuse_upgrade.ts";

/** Both ends of a connection. */
async function openPair(): Promise<{ near: Socket; far: Socket; close(): void }> {
  const accepted = Promise.withResolvers<Socket>();
  const server = createServer({ allowHalfOpen: true }, accepted.resolve);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as { port: number };
  const far = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  return { near: await accepted.promise, far, close: () => server.close() };
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once("close", () => resolve()));
}

async function textOf(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (chunk) => text += chunk);
  await new Promise((resolve) => socket.once("end", resolve));
  return text;
}

const REFUSAL = { status: 403, body: '{"ü":1}', headers: { "X-More": "yes" } };
const ANSWER = "HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nContent-Length: 8\r\n" +
  'X-More: yes\r\nConnection: close\r\n\r\n{"ü":1}';

Deno.test("refuseUpgrade() answers whole while the client still sends, and is gone with it", async () => {
  const { near, far, close } = await openPair();
  const clock = new ManualClock();
  far.write("x".repeat(1_000_000));
  refuseUpgrade(near, REFUSAL, clock);
  const gone = closed(near);
  assertEquals(await textOf(far), ANSWER);
  far.end();
  await gone;
  assertEquals(clock.timers, 0);
  close();
});

Deno.test("refuseUpgrade() answers a client that closed its half already", async () => {
  const { near, far, close } = await openPair();
  far.end("x");
  refuseUpgrade(near, REFUSAL, new ManualClock());
  const gone = closed(near);
  assertEquals(await textOf(far), ANSWER);
  await gone;
  close();
});

Deno.test("refuseUpgrade() cuts a client that does not go, after 2 s", async () => {
  const { near, far, close } = await openPair();
  const clock = new ManualClock();
  refuseUpgrade(near, REFUSAL, clock);
  const gone = closed(near);
  assertEquals(await textOf(far), ANSWER);
  clock.advance(2_000);
  await gone;
  far.destroy();
  assertEquals(clock.timers, 0);
  close();
});

Deno.test("refuseUpgrade() does nothing for a client that is gone", async () => {
  const { near, far, close } = await openPair();
  const clock = new ManualClock();
  far.destroy();
  near.destroy();
  refuseUpgrade(near, REFUSAL, clock);
  assertEquals(clock.timers, 0);
  close();
});
