import { assertEquals, assertStringIncludes } from "@std/assert";
import { type Handler, listen } from "./listen.ts";
import type { Unreadable } from "./keep_order.ts";
import { rawRequest } from "../http/testing/test_api.ts";

const GARBAGE = "this is no request\r\n\r\n";

/** Sends a request, garbage as soon as it was read, and lets the answer begin or end after that. */
async function answerOf(respond: (refused: Promise<void>) => Response | Promise<Response>) {
  const refusals: Unreadable[] = [];
  const refused = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const handler: Handler = (request) => {
    request.signal.addEventListener("abort", () => refused.resolve());
    arrived.resolve();
    return respond(refused.promise);
  };
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    handler,
    setting: "api",
    onUnreadable: (refusal) => refusals.push(refusal),
  });
  using connection = await Deno.connect({ port: listener.port, hostname: "127.0.0.1" });
  const send = (text: string) => connection.write(new TextEncoder().encode(text));
  await send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await arrived.promise;
  await send(GARBAGE);
  // A second request on a connection of its own, answered: the garbage has been read before it.
  await rawRequest(listener.port, GARBAGE);
  refused.resolve();
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of connection.readable) text += decoder.decode(chunk);
  await listener.close();
  return { text, refusals };
}

Deno.test("keepOrder() waits for the answer to what was read before", async () => {
  const { text, refusals } = await answerOf(async (garbageRead) => {
    await garbageRead;
    return new Response("the answer");
  });
  assertEquals(text.indexOf("HTTP/1.1 200 OK"), 0);
  assertStringIncludes(text, "the answerHTTP/1.1 400 Bad Request");
  assertEquals(refusals.length, 2);
});

Deno.test("keepOrder() writes nothing into an answer that is being streamed", async () => {
  const { text } = await answerOf((garbageRead) =>
    new Response(
      new ReadableStream({
        async pull(controller) {
          controller.enqueue(new TextEncoder().encode("first"));
          await garbageRead;
          controller.enqueue(new TextEncoder().encode("second"));
          controller.close();
        },
      }, { highWaterMark: 0 }),
    )
  );
  assertStringIncludes(text, "5\r\nfirst\r\n6\r\nsecond\r\n0\r\n\r\nHTTP/1.1 400 Bad Request");
});

Deno.test("keepOrder() answers CONNECT in the envelope", async () => {
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    handler: () => new Response("x"),
    setting: "api",
  });
  const answer = await rawRequest(listener.port, "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n");
  assertStringIncludes(answer, "400 Bad Request");
  assertStringIncludes(answer, '"code":"invalid_request"');
  await listener.close();
});
