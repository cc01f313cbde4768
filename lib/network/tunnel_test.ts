import { assert, assertEquals } from "@std/assert";
import { pair, readText, writeText } from "./testing/pair.ts";
import { tunnel, type TunnelEnd } from "./tunnel.ts";

const LONG = { idleMs: 60_000, halfOpenMs: 60_000 };

Deno.test("tunnel() carries bytes both ways, and an end of one side before the other's", async () => {
  const [client, near] = await pair();
  const [far, server] = await pair();
  const done = tunnel(near, far, LONG);
  const text = "x".repeat(1_000_000);
  await Promise.all([
    writeText(client, text).then(() => client.closeWrite()),
    readText(server).then((said) => assertEquals(said.length, text.length)),
  ]);
  // The client has said its last, and is answered all the same.
  await writeText(server, "late");
  server.close();
  assertEquals(await readText(client), "late");
  client.close();
  await done;
});

Deno.test("tunnel() ends what idles, and sooner when one side has ended", async () => {
  for (const ended of [false, true]) {
    const [client, near] = await pair();
    const [far, server] = await pair();
    const done = tunnel(
      near,
      far,
      ended ? { idleMs: 60_000, halfOpenMs: 40 } : { idleMs: 40, halfOpenMs: 60_000 },
    );
    if (ended) await client.closeWrite();
    await done;
    assertEquals(await readText(client), "");
    client.close();
    server.close();
  }
});

Deno.test("tunnel() does not take a busy connection for an idle one", async () => {
  const [client, near] = await pair();
  const [far, server] = await pair();
  const done = tunnel(near, far, { idleMs: 1_500, halfOpenMs: 1_500 });
  const buffer = new Uint8Array(16);
  const from = performance.now();
  while (performance.now() - from < 3_000) {
    await writeText(client, "ping");
    assertEquals(await server.read(buffer), 4);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  client.close();
  server.close();
  await done;
});

Deno.test("tunnel() reads no more than one buffer ahead of a reader that takes nothing", async () => {
  let read = 0;
  const taken = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const source: TunnelEnd = {
    read(buffer) {
      read += buffer.length;
      return Promise.resolve(buffer.length);
    },
    write: (bytes) => Promise.resolve(bytes.length),
    closeWrite: () => Promise.resolve(),
    close() {},
  };
  const stuck: TunnelEnd = {
    read: () => closed.promise.then(() => null),
    write() {
      taken.resolve();
      return closed.promise.then(() => {
        throw new Error("closed");
      });
    },
    closeWrite: () => Promise.resolve(),
    close: () => closed.resolve(),
  };
  const done = tunnel(source, stuck, { idleMs: 50, halfOpenMs: 60_000 });
  await taken.promise;
  await done;
  assertEquals(read, 64 * 1024);
});

Deno.test("tunnel() breaks both sides when one breaks, so that half of an answer is none", async () => {
  const [client, near] = await pair();
  const far: TunnelEnd = {
    read: () => Promise.reject(new Error("reset")),
    write: (bytes) => Promise.resolve(bytes.length),
    closeWrite: () => Promise.resolve(),
    close() {},
  };
  await tunnel(near, far, LONG);
  assertEquals(await client.read(new Uint8Array(1)), null);
  assert(await client.write(new Uint8Array(1)).then(() => false, () => true));
  client.close();
});
