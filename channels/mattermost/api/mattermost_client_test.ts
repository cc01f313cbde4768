import { assert, assertEquals, assertRejects } from "@std/assert";
import { fakeClock } from "../../../lib/agent/testing/fake_clock.ts";
import {
  LoginRefusedError,
  NotConnectedError,
  PermanentDeliveryError,
  RetryLaterError,
  UncertainDeliveryError,
} from "../../../lib/channel/delivery_error.ts";
import { callError, ofRepeatable } from "../../../lib/channel/platform/mod.ts";
import { MattermostClient } from "./mattermost_client.ts";
import { MATTERMOST_FAULTS } from "./mattermost_faults.ts";
import { freePort } from "../../../tests/support/free_port.ts";

/** A client of a server that gives one answer. */
async function withAnswer(
  answer: (request: Request) => Response | Promise<Response>,
  run: (client: MattermostClient, requests: Headers[]) => Promise<void>,
  clock = fakeClock(),
): Promise<void> {
  const requests: Headers[] = [];
  const ending = new AbortController();
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: () => {},
    signal: ending.signal,
  }, (request) => {
    requests.push(new Headers(request.headers));
    return answer(request);
  });
  const { signal } = new AbortController();
  const url = `http://127.0.0.1:${server.addr.port}`;
  try {
    await run(new MattermostClient({ url, token: "the-token", clock, signal }), requests);
  } finally {
    ending.abort();
    await server.finished;
  }
}

const failure = (client: MattermostClient): Promise<Error> =>
  assertRejects(() => client.getMe(), Error);

Deno.test("MattermostClient gives the token to the server alone, and follows nobody elsewhere", async () => {
  await withAnswer(
    () => Response.redirect("https://elsewhere.example/login", 302),
    async (client, requests) => {
      const { message } = await failure(client);
      assertEquals(
        message,
        "The server sends requests to https://elsewhere.example: set url to that",
      );
      assertEquals(requests[0]!.get("authorization"), "BEARER the-token");
      assertEquals(requests[0]!.get("cookie"), null);
    },
  );
});

Deno.test("MattermostClient says what is wrong with an answer that is none", async () => {
  for (
    const [body, words] of [
      ["<html>", "The server's answer is no JSON"],
      ["", "The server's answer is no JSON"],
    ] as const
  ) {
    await withAnswer(() => new Response(body), async (client) => {
      assertEquals((await failure(client)).message, words);
    });
  }
  const endless = () =>
    new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(1024 * 1024)) });
  await withAnswer(() => new Response(endless()), async (client) => {
    assertEquals((await failure(client)).message, "The server's answer is too large");
  });
});

Deno.test("MattermostClient waits for an answer no longer than it has", async () => {
  const clock = fakeClock();
  const silent = Promise.withResolvers<Response>();
  const asked = Promise.withResolvers<void>();
  await withAnswer(() => {
    asked.resolve();
    return silent.promise;
  }, async (client) => {
    const failing = failure(client);
    await asked.promise;
    clock.tick(30_000);
    const error = await failing;
    assertEquals(error.message, "The server has not answered in time");
    assert(error instanceof UncertainDeliveryError);
    assertEquals(clock.timers(), 0);
    silent.resolve(new Response("{}"));
  }, clock);
});

Deno.test("MattermostClient tells a connection that was never made from one that was lost", async () => {
  const { signal } = new AbortController();
  const deps = { token: "the-token", clock: fakeClock(), signal };
  const client = new MattermostClient({ ...deps, url: `http://127.0.0.1:${freePort()}` });
  const error = await failure(client);
  assert(error instanceof NotConnectedError);
  assert(!error.message.includes("the-token"));
});

Deno.test("MattermostClient reads how long to wait from either header, within bounds", async () => {
  const clock = fakeClock();
  for (
    const [headers, ms] of [
      [{ "retry-after": "2" }, 2_000],
      [{ "x-ratelimit-reset": "3" }, 3_000],
      [{ "x-ratelimit-reset": String(clock.now() / 1_000 + 4) }, 4_000],
      [{ "retry-after": "0" }, 100],
      [{ "retry-after": "soon" }, 1_000],
      [{ "retry-after": "-5" }, 1_000],
      [{}, 1_000],
      [{ "retry-after": "99999999" }, 600_000],
    ] as [Record<string, string>, number][]
  ) {
    await withAnswer(
      () => new Response("limit exceeded\n", { status: 429, headers }),
      async (client) => {
        const error = await failure(client);
        assert(error instanceof RetryLaterError);
        assertEquals(error.retryAfterMs, ms, JSON.stringify(headers));
      },
      clock,
    );
  }
});

Deno.test("MATTERMOST_FAULTS takes for good what a repeat cannot mend, and nothing else", () => {
  const error = (status: number) => callError(MATTERMOST_FAULTS, { status, said: "words" });
  for (const status of [400, 403, 404, 405, 413, 501 - 100]) {
    const expected = status === 401 ? LoginRefusedError : PermanentDeliveryError;
    assert(error(status) instanceof expected, String(status));
  }
  assert(error(503) instanceof NotConnectedError);
  for (const status of [408, 500, 501]) assertEquals(error(status).constructor, Error);
  for (const status of [0, 502, 504]) assert(error(status) instanceof UncertainDeliveryError);
  assert(ofRepeatable(error(504)) instanceof NotConnectedError);
  assertEquals(ofRepeatable("anything"), "anything");
});
