import { assertEquals } from "@std/assert";
import { connect } from "node:net";
import { neverSent } from "./never_sent.ts";
import { freePort } from "../../../tests/support/free_port.ts";

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(() => undefined, (error) => error);
}

/** A server that reads each request and leaves the rest to the test. */
async function withServer(
  work: (url: string) => Promise<void>,
  onRequest: (connection: Deno.TcpConn) => void,
): Promise<void> {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const serving = (async () => {
    for await (const connection of listener) {
      const buffer = new Uint8Array(4_096);
      await connection.read(buffer);
      onRequest(connection);
    }
  })().catch(() => {});
  try {
    await work(`http://127.0.0.1:${listener.addr.port}/`);
  } finally {
    listener.close();
    await serving;
  }
}

Deno.test("neverSent() is true when a connection is refused, or its host has no address", async () => {
  const port = freePort();
  const refused = await errorOf(fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: "x" }));
  assertEquals(neverSent(refused), true);
  assertEquals(neverSent(await errorOf(fetch("http://nowhere.invalid/"))), true);
  const socket = await new Promise<unknown>((resolve) => {
    connect(port, "127.0.0.1").once("error", resolve);
  });
  assertEquals(neverSent(socket), true);
  assertEquals(neverSent(new Error("The SDK failed", { cause: refused })), true);
});

Deno.test("neverSent() is false when a connection ends behind a request", async () => {
  await withServer(async (url) => {
    const error = await errorOf(fetch(url, { method: "POST", body: "x" }));
    assertEquals([error instanceof Error, neverSent(error)], [true, false]);
  }, (connection) => connection.close());
});

Deno.test("neverSent() is false when a request ran out of time, and for what is not known", async () => {
  const open: Deno.TcpConn[] = [];
  await withServer(async (url) => {
    const error = await errorOf(fetch(url, { signal: AbortSignal.timeout(20) }));
    assertEquals(neverSent(error), false);
  }, (connection) => open.push(connection));
  for (const connection of open) connection.close();
  const loop = new Error("a");
  loop.cause = loop;
  for (const each of [loop, undefined, null, "connect", { code: "ECONNREFUSED" }, new Error("")]) {
    assertEquals(neverSent(each), false);
  }
});
