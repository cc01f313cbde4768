import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { connectClient } from "./client.ts";
import { connectLocal, type Endpoint, listenLocal } from "./endpoint.ts";
import type { Operations } from "./protocol.ts";
import { type OperationHandlers, serveGuest } from "./server.ts";
import { type Duplex, readLines } from "./wire.ts";

function pair(): [Duplex, Duplex] {
  const a = new TransformStream<Uint8Array, Uint8Array>();
  const b = new TransformStream<Uint8Array, Uint8Array>();
  return [{ readable: a.readable, writable: b.writable }, {
    readable: b.readable,
    writable: a.writable,
  }];
}

const none = async function* () {};

function handlers(some: Partial<OperationHandlers>): OperationHandlers {
  return {
    turn: none,
    sessions: none,
    session: none,
    export: none,
    delete: none,
    status: none,
    ...some,
  } as OperationHandlers;
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

Deno.test("request() yields what the service answers, and its error", async () => {
  const [here, there] = pair();
  const served = serveGuest(there, {
    version: "1.0.0",
    handlers: handlers({
      async *delete({ key }) {
        if (key === "api:gone") throw new ServiceError("not_found", "no such", { param: "key" });
        yield { deleted: true };
      },
    }),
  });
  const client = await connectClient(here);
  assertEquals(await collect(client.request("delete", { key: "api:a" })), [{ deleted: true }]);
  const error = await assertRejects(
    () => collect(client.request("delete", { key: "api:gone" })),
    ServiceError,
  );
  assertEquals([error.code, error.details.param], ["not_found", "key"]);
  const unknown = await assertRejects(
    () => collect(client.request("nonsense" as "delete", { key: "" })),
    ServiceError,
  );
  assertEquals(unknown.code, "invalid_request");
  client.close();
  await served;
});

Deno.test("request() cancels there when its signal aborts, and goes on to the end", async () => {
  const [here, there] = pair();
  const served = serveGuest(there, {
    version: "1.0.0",
    handlers: handlers({
      async *turn(_params, signal) {
        const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
        yield { seq: 1, turnId: "t", event: { type: "turn_start", model: "m" } };
        await aborted;
        yield { seq: 2, turnId: "t", event: { type: "notice", text: "cancelled" } };
      },
    }),
  });
  const client = await connectClient(here);
  const controller = new AbortController();
  const seen: number[] = [];
  const params: Operations["turn"]["params"] = { sessionKey: "cli:a", input: [] };
  for await (const { seq } of client.request("turn", params, controller.signal)) {
    seen.push(seq);
    controller.abort();
  }
  assertEquals(seen, [1, 2]);
  client.close();
  await served;
});

Deno.test("serveGuest() ends every operation when the guest goes away", async () => {
  const [here, there] = pair();
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const served = serveGuest(there, {
    version: "1.0.0",
    handlers: handlers({
      // deno-lint-ignore require-yield
      async *turn(_params, signal) {
        started.resolve();
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        ended.resolve();
      },
    }),
  });
  const client = await connectClient(here);
  const reading = collect(client.request("turn", { sessionKey: "cli:a", input: [] })).catch(
    () => {},
  );
  await started.promise;
  client.close();
  await ended.promise;
  await served;
  await reading;
});

Deno.test("serveGuest() survives a guest that sends garbage", async () => {
  const [here, there] = pair();
  const served = serveGuest(there, { version: "1.0.0", handlers: handlers({}) });
  const answers = collect(readLines(here.readable));
  const writer = here.writable.getWriter();
  await writer.write(new TextEncoder().encode("not json\n"));
  await served;
  assertEquals(await answers, [{ hello: "1.0.0" }]);
});

Deno.test("a slow reader holds the service back instead of filling memory", async () => {
  const [here, there] = pair();
  let sent = 0;
  const served = serveGuest(there, {
    version: "1.0.0",
    handlers: handlers({
      async *delete() {
        while (sent < 100_000) {
          sent++;
          yield { deleted: true };
        }
      },
    }),
  });
  const client = await connectClient(here);
  let read = 0;
  for await (const _ of client.request("delete", { key: "a" })) {
    if (++read === 10) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      break;
    }
  }
  assertEquals(sent < 2_000, true, `${sent} were sent to a reader of 10`);
  client.close();
  await served;
});

Deno.test("readLines() joins pieces, splits characters rightly, and refuses an endless line", async () => {
  const bytes = new TextEncoder().encode('{"a":"ä€😀"}\n{"b":1}\n');
  const pieces = [...bytes].map((byte) => new Uint8Array([byte]));
  assertEquals(await collect(readLines(ReadableStream.from(pieces))), [{ a: "ä€😀" }, { b: 1 }]);
  const long = ReadableStream.from([new Uint8Array(100).fill(65), new Uint8Array(100).fill(65)]);
  const error = await assertRejects(() => collect(readLines(long, 150)), ServiceError);
  assertEquals(error.code, "too_large");
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
          handlers: handlers({
            async *delete() {
              yield { deleted: false };
            },
          }),
        }));
      }
    })();
    const client = (await connectLocal(endpoint))!;
    assertEquals(await collect(client.request("delete", { key: "x" })), [{ deleted: false }]);
    if (kind === "tcp") {
      const { port } = JSON.parse(await Deno.readTextFile(endpoint.file));
      assertEquals((await Deno.stat(endpoint.file)).mode! & 0o777, 0o600);
      await assertRejects(async () => {
        await connectClient(await Deno.connect({ hostname: "127.0.0.1", port }), "a guess");
      }, ServiceError);
    }
    client.close();
    listener.close();
    await accepting;
    await Promise.all(served);
    await Deno.remove(dir, { recursive: true });
  });
}
