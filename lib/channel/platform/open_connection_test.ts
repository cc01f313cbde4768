import { assertEquals, assertRejects } from "@std/assert";
import { openConnection } from "./open_connection.ts";

/** A server that accepts, says nothing, and tells when whoever came has gone. */
function openSilent() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const gone = (async () => {
    using connection = await listener.accept();
    const chunk = new Uint8Array(4_096);
    while (await connection.read(chunk).catch(() => null) !== null);
  })();
  return {
    address: { hostname: "127.0.0.1", port: listener.addr.port },
    gone,
    [Symbol.dispose]: () => listener.close(),
  };
}

Deno.test("openConnection() is ended by its signal during a handshake that nobody answers", async () => {
  using server = openSilent();
  const ending = new AbortController();
  const tls = { hostname: "localhost", caCerts: [] };
  const prepared = Promise.withResolvers<void>();
  const opening = openConnection(
    { ...server.address, tls, prepare: () => prepared.resolve() },
    ending.signal,
  );
  const rejected = assertRejects(() => opening);
  await prepared.promise;
  ending.abort();
  await rejected;
  await server.gone;
});

Deno.test("openConnection() leaves nothing open where it could not be made ready", async () => {
  using server = openSilent();
  const prepare = () => Promise.reject(new Error("no encryption here"));
  const { signal } = new AbortController();
  await assertRejects(
    () => openConnection({ ...server.address, prepare }, signal),
    Error,
    "no encryption here",
  );
  await server.gone;
});

Deno.test("openConnection() without TLS gives the connection as it is, and the signal touches it no more", async () => {
  using server = openSilent();
  const ending = new AbortController();
  const connection = await openConnection(server.address, ending.signal);
  ending.abort();
  assertEquals(await connection.write(new Uint8Array(1)), 1);
  connection.close();
  await server.gone;
});
