import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { NO_ENDPOINT } from "../rpc/endpoint.ts";
import { encodeFrame } from "../rpc/frames.ts";
import { Peer } from "../rpc/peer.ts";
import { serviceErrors } from "../rpc/service_errors.ts";
import { streamTransport } from "../rpc/stream_transport.ts";
import { fingerprintsOf } from "../secrets/fingerprints_of.ts";
import { createScrubber } from "../secrets/scrubber.ts";
import { connectClient } from "./client.ts";
import { connectLocal, type Endpoint, listenLocal } from "./endpoint.ts";
import { LOCAL, type Params } from "./protocol.ts";
import { serveGuest } from "./server.ts";
import { openGuest, streamPair } from "./testing/open_guest.ts";

const TURN: Params<"turn"> = { sessionKey: "cli:a", input: [] };

/** What a client asks of the table. */
const ask = (op: string) => ({ request: { op } });

const untilAborted = (signal: AbortSignal) =>
  new Promise((resolve) => signal.addEventListener("abort", resolve));

Deno.test("a client is told what the service answers, and its error", async () => {
  await using guest = await openGuest({
    operate({ request: { op } }) {
      if (op === "sessions.delete") return Promise.resolve({ deleted: true });
      throw new ServiceError("not_found", "no such", { param: "key" });
    },
    async *turn() {
      for (let seq = 1; seq <= 2; seq++) yield { seq } as never;
      throw new ServiceError("internal", "no more");
    },
  });
  const { client } = guest;
  assertEquals(await client.call("operate", ask("sessions.delete")), { deleted: true });
  const error = await assertRejects(() => client.call("operate", ask("none")), ServiceError);
  assertEquals([error.code, error.details.param], ["not_found", "key"]);
  for (const op of ["nonsense", "follow"] as string[] as "operate"[]) {
    const unknown = await assertRejects(() => client.call(op, ask("a")), ServiceError);
    assertEquals([unknown.code, unknown.details.param], ["invalid_request", "op"]);
    assertEquals(unknown.message, `Unknown operation "${op}"; known: operate, turn`);
  }
  const seen: number[] = [];
  await assertRejects(
    async () => {
      for await (const { seq } of client.stream("turn", TURN)) seen.push(seq);
    },
    ServiceError,
    "no more",
  );
  assertEquals(seen, [1, 2]);
});

Deno.test("a turn that is stopped tells its end", async () => {
  await using guest = await openGuest({
    async *turn(_params, signal) {
      const aborted = untilAborted(signal);
      yield { seq: 1, turnId: "t", event: { type: "turn_start", model: "m" } };
      await aborted;
      yield { seq: 2, turnId: "t", event: { type: "notice", text: "cancelled" } };
    },
  });
  const controller = new AbortController();
  const seen: number[] = [];
  for await (const { seq } of guest.client.stream("turn", TURN, { stop: controller.signal })) {
    seen.push(seq);
    controller.abort();
  }
  assertEquals(seen, [1, 2]);
});

Deno.test("serveGuest() ends every operation when the guest goes away", async () => {
  const started = Promise.withResolvers<void>();
  let isEnded = false;
  const guest = await openGuest({
    // deno-lint-ignore require-yield
    async *turn(_params, signal) {
      started.resolve();
      await untilAborted(signal);
      isEnded = true;
    },
  });
  const reading = assertRejects(
    () => Array.fromAsync(guest.client.stream("turn", TURN)),
    ServiceError,
    "The service of this home has stopped",
  );
  await started.promise;
  guest.client.close();
  await guest.served;
  assertEquals(isEnded, true);
  await reading;
});

Deno.test("serveGuest() takes secrets out of answers, of what is streamed, and of errors", async () => {
  const scrubber = createScrubber(fingerprintsOf({ name: "KEY", value: "s3cret-value" }));
  await using guest = await openGuest({
    operate({ request: { op } }) {
      if (op === "fails") throw new ServiceError("not_found", "no s3cret-value");
      const answer = { title: "my s3cret-value" };
      return Promise.resolve(op === "streams" ? ReadableStream.from([answer]) : answer);
    },
  }, { scrubber });
  const { client } = guest;
  const failing = client.call("operate", ask("fails"));
  await assertRejects(() => failing, ServiceError, "no [secret KEY]");
  const answer = { title: "my [secret KEY]" };
  assertEquals(await client.call("operate", ask("answers")), answer);
  assertEquals(await Array.fromAsync(client.stream("operate", ask("streams"))), [answer]);
});

Deno.test("serveGuest() answers so many operations of a guest at once, and refuses more", async () => {
  const guest = await openGuest({
    // deno-lint-ignore require-yield
    async *turn(_params, signal) {
      await untilAborted(signal);
    },
    operate: () => Promise.resolve({ done: true }),
  });
  const waiting = Array.from({ length: 64 }, () => guest.client.stream("turn", TURN).next());
  const settled = Promise.allSettled(waiting);
  const error = await assertRejects(() => guest.client.call("operate", ask("a")), ServiceError);
  assertEquals([error.code, error.message], ["queue_full", "64 operations are under way"]);
  await guest[Symbol.asyncDispose]();
  await settled;
});

Deno.test("serveGuest() answers nothing before the connection is open", async () => {
  const [here, there] = streamPair();
  let asked = 0;
  const served = serveGuest(there, {
    version: "1.0.0",
    key: "the key",
    handlers: { operate: () => Promise.resolve({ asked: ++asked }) } as never,
  });
  const peer = new Peer({
    transport: streamTransport(here),
    mine: NO_ENDPOINT,
    theirs: LOCAL,
    handlers: NO_ENDPOINT,
    errors: serviceErrors(),
  });
  await assertRejects(() => peer.call("operate", ask("a")), ServiceError, "is not open yet");
  await assertRejects(() => peer.call("open", {}), ServiceError, "it has ended");
  await served;
  assertEquals(asked, 0);
});

Deno.test("serveGuest() survives a guest that sends garbage", async () => {
  for (const garbage of ["not frames\n", "\0\0\0\x04null", "\0\0\0\x02{}"]) {
    const [here, there] = streamPair();
    const served = serveGuest(there, { version: "1.0.0", handlers: {} as never });
    const reading = Array.fromAsync(here.readable);
    const writer = here.writable.getWriter();
    await writer.write(new TextEncoder().encode(garbage)).catch(() => {});
    await served;
    assertEquals(await reading, []);
  }
});

Deno.test("connectClient() says that a service that ends the connection at once is stopping", async () => {
  const [here, there] = streamPair();
  const hello = encodeFrame({ type: "answer", id: 7 });
  const writer = there.writable.getWriter();
  const connecting = assertRejects(() => connectClient(here), ServiceError);
  await writer.write(hello[0]!);
  assertEquals((await connecting).code, "draining");
});

Deno.test("a slow reader holds the service back instead of filling memory", async () => {
  let sent = 0;
  await using guest = await openGuest({
    async *turn() {
      while (sent < 100_000) yield { seq: ++sent } as never;
    },
  });
  let read = 0;
  for await (const _ of guest.client.stream("turn", TURN)) {
    if (++read < 10) continue;
    await new Promise((resolve) => setTimeout(resolve, 50));
    break;
  }
  assertEquals(sent < 2_000, true, `${sent} were sent to a reader of 10`);
});

for (const kind of ["unix", "tcp"] as const) {
  Deno.test(`listenLocal() and connectLocal() meet over ${kind}, also where a dead process left its file`, async () => {
    const dir = await Deno.makeTempDir();
    const endpoint: Endpoint = { kind, file: `${dir}/s` };
    assertEquals(await connectLocal(endpoint), undefined, "nobody is there");
    await Deno.writeTextFile(endpoint.file, '{"port":1,"key":"stale"}');
    assertEquals(await connectLocal(endpoint), undefined, "a leftover is nobody");
    const listener = await listenLocal(endpoint);
    const served: Promise<void>[] = [];
    const accepting = (async () => {
      for await (const connection of listener.connections) {
        served.push(serveGuest(connection, {
          version: "1",
          key: listener.key,
          handlers: { operate: () => Promise.resolve({ done: true }) } as never,
        }));
      }
    })();
    await Deno.chmod(dir, 0o777);
    assertEquals(await connectLocal(endpoint), undefined, "anybody may listen there");
    await Deno.chmod(dir, 0o700);
    const client = (await connectLocal(endpoint))!;
    assertEquals(await client.call("operate", ask("a")), { done: true });
    if (kind === "tcp") {
      const { port } = JSON.parse(await Deno.readTextFile(endpoint.file));
      assertEquals((await Deno.stat(endpoint.file)).mode! & 0o777, 0o600);
      const error = await assertRejects(
        async () => connectClient(await Deno.connect({ hostname: "127.0.0.1", port }), "a guess"),
        ServiceError,
      );
      assertEquals(error.code, "draining");
    }
    client.close();
    listener.close();
    await accepting;
    await Promise.all(served);
    await Deno.remove(dir, { recursive: true });
  });
}
