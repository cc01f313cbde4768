import { assert, assertEquals, assertRejects } from "@std/assert";
import type { ChannelListener } from "../channel/channel_host.ts";
import { ServiceError } from "../base/errors.ts";
import { MAX_LISTEN_BODY_BYTES, workerListen } from "./worker_listen.ts";

async function withListener(
  handler: (request: Request) => Promise<Response>,
  run: (listener: ChannelListener, lines: unknown[]) => Promise<void>,
): Promise<void> {
  const lines: unknown[] = [];
  const line = (message: string, fields?: object) => void lines.push({ message, ...fields });
  const log = { info: line, warning: line, error: line };
  const address = { host: "127.0.0.1", port: 0 };
  const listener = await workerListen(address, handler, { runtimeName: "hook", log });
  try {
    await run(listener, lines);
  } finally {
    await listener.close();
  }
}

const echo = async (request: Request) => new Response(String((await request.bytes()).length));

Deno.test("workerListen() gives a body within its bound, whole", async () => {
  await withListener(echo, async ({ url }) => {
    const body = new Uint8Array(MAX_LISTEN_BODY_BYTES);
    const response = await fetch(url, { method: "POST", body });
    assertEquals(await response.text(), String(MAX_LISTEN_BODY_BYTES));
    assertEquals(await (await fetch(url)).text(), "0");
  });
});

Deno.test("workerListen() refuses a body over its bound, said or not", async () => {
  await withListener(echo, async ({ url }, lines) => {
    const said = await fetch(url, {
      method: "POST",
      body: new Uint8Array(MAX_LISTEN_BODY_BYTES + 1),
    });
    assertEquals([said.status, await said.text()], [413, "The body is too large"]);
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull(controller) {
        controller.enqueue(new Uint8Array(1024 * 1024));
      },
    });
    const unsaid = await fetch(url, { method: "POST", body }).then(
      async (response) => [response.status, await response.text()],
      // It may be cut while it is sent.
      () => [413, "The body is too large"],
    );
    assertEquals(unsaid, [413, "The body is too large"]);
    assertEquals(lines, []);
  });
});

Deno.test("workerListen() answers for a handler that fails, and says why in the log alone", async () => {
  await withListener(() => Promise.reject(new Error("inner words")), async ({ url }, lines) => {
    const response = await fetch(url);
    assertEquals([response.status, await response.text()], [
      500,
      "The request could not be answered",
    ]);
    assertEquals(lines, [
      { message: "A request could not be answered", reason: "inner words" },
    ]);
  });
});

Deno.test("workerListen() says which setting names an address that cannot be had", async () => {
  await withListener(echo, async ({ url }) => {
    const port = Number(new URL(url).port);
    const log = { info() {}, warning() {}, error() {} };
    const error = await assertRejects(
      () => workerListen({ host: "127.0.0.1", port }, echo, { runtimeName: "hook", log }),
      ServiceError,
    );
    assertEquals(error.code, "config_invalid");
    assert(error.message.includes(`127.0.0.1:${port}`), error.message);
    assert(error.message.includes("channels.hook"), error.message);
  });
});
