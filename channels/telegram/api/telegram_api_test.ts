import { assert, assertEquals, assertRejects } from "@std/assert";
import { fakeClock } from "../../../lib/agent/testing/fake_clock.ts";
import { TelegramApi } from "./telegram_api.ts";
import {
  LoginRefusedError,
  NotConnectedError,
  PermanentDeliveryError,
  RetryLaterError,
  UncertainDeliveryError,
} from "../../../lib/channel/delivery_error.ts";
import { failedCall, ofRepeatable } from "../../../lib/channel/platform/mod.ts";

const TOKEN = "777001:AAFakeTokenOfATest-0123456789_abcdef";

function apiWith(answer: (url: string) => Promise<Response> | Response, clock = fakeClock()) {
  return new TelegramApi({
    token: TOKEN,
    apiUrl: "http://127.0.0.1:9",
    clock,
    fetch: ((input: string, init?: RequestInit) => {
      const aborted = Promise.withResolvers<never>();
      init?.signal?.addEventListener(
        "abort",
        () => aborted.reject(new DOMException("The signal has been aborted", "AbortError")),
      );
      return Promise.race([Promise.resolve().then(() => answer(String(input))), aborted.promise]);
    }) as typeof fetch,
  });
}

async function faultOf(api: TelegramApi): Promise<Error> {
  return await assertRejects(
    () => api.call("sendMessage", { chat_id: 1, text: "x" }),
    Error,
  );
}

/** Everything that may come to a log, with what is behind it. */
function deepWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return [error.message, error.stack, JSON.stringify(error), deepWords(error.cause)].join("\n");
}

Deno.test("call() says nothing of the token, whatever goes wrong", async () => {
  const url = `http://127.0.0.1:9/bot${TOKEN}/sendMessage`;
  const refused = { ok: false, error_code: 400, description: `Bad Request: ${url}` };
  const answers: [() => Promise<Response> | Response, unknown][] = [
    [() =>
      Promise.reject(
        new TypeError(
          `error sending request for url (${url}): client error ` +
            "(Connect): tcp connect error: Connection refused",
        ),
      ), NotConnectedError],
    [() =>
      Promise.reject(
        new TypeError(
          `error sending request for url (${url}): client error ` +
            "(SendRequest): connection closed before message completed",
        ),
      ), UncertainDeliveryError],
    [() => Promise.reject(new TypeError(`fetch failed for ${url}`)), UncertainDeliveryError],
    [() => new Response(url, { status: 500 }), UncertainDeliveryError],
    [() => new Response(`<a href="${url}">`, { status: 404 }), UncertainDeliveryError],
    [
      () => new Response("moved", { status: 302, headers: { location: url } }),
      UncertainDeliveryError,
    ],
    [() => Response.json(refused, { status: 400 }), PermanentDeliveryError],
    [
      () => Response.json({ ...refused, description: encodeURIComponent(url) }),
      PermanentDeliveryError,
    ],
  ];
  for (const [answer, kind] of answers) {
    const fault = await faultOf(apiWith(answer));
    assertEquals(fault.constructor, kind, fault.message);
    const [, secret] = TOKEN.split(":");
    assert(!deepWords(ofRepeatable(fault)).includes(secret!), deepWords(fault));
    assert(!fault.message.includes(secret!), fault.message);
  }
});

Deno.test("call() tells what Telegram's codes mean", async () => {
  for (
    const [code, description, kind] of [
      [401, "Unauthorized", LoginRefusedError],
      [404, "Not Found", LoginRefusedError],
      [404, "Not Found: method not found", PermanentDeliveryError],
      [409, "Conflict: x", Error],
      [429, "Too Many Requests", RetryLaterError],
      [400, "Bad Request: x", PermanentDeliveryError],
      [403, "Forbidden: x", PermanentDeliveryError],
      [500, "Internal Server Error", UncertainDeliveryError],
      [502, "Bad Gateway", NotConnectedError],
    ] as const
  ) {
    const api = apiWith(() => Response.json({ ok: false, error_code: code, description }));
    const fault = await faultOf(api);
    assertEquals(fault.constructor, kind);
    assertEquals(failedCall(fault)?.status, kind === LoginRefusedError ? 401 : code);
    // Where it does not say how long, it is not at once.
    if (code === 429) assert((fault as RetryLaterError).retryAfterMs > 0);
  }
});

Deno.test("call() ends with its time, with its signal, and with an answer that is too long", async () => {
  const clock = fakeClock();
  const never = apiWith(() => new Promise(() => {}), clock);
  const late = faultOf(never);
  await Promise.resolve();
  clock.tick(60_000);
  assert(await late instanceof UncertainDeliveryError);
  const ending = new AbortController();
  const stopped = never.call("getMe", {}, { signal: ending.signal });
  ending.abort(new Error("stopped"));
  await assertRejects(() => stopped, Error, "stopped");
  assertEquals(clock.timers(), 0);
  const chunk = new Uint8Array(1024 * 1024).fill(32);
  let given = 0;
  const endless = apiWith(() =>
    new Response(
      new ReadableStream({
        pull(controller) {
          given += 1;
          controller.enqueue(chunk);
        },
      }),
    )
  );
  assert(await faultOf(endless) instanceof UncertainDeliveryError);
  assert(given < 40, `${given} MiB were read`);
});

Deno.test("download() tells a file that is gone from trouble, and sends no token elsewhere", async () => {
  const { signal } = new AbortController();
  for (
    const [answer, kind] of [
      [() => new Response("x", { status: 404 }), PermanentDeliveryError],
      [() => new Response("x", { status: 502 }), NotConnectedError],
      [
        () => Promise.reject(new TypeError(`error for /file/bot${TOKEN}/x`)),
        UncertainDeliveryError,
      ],
    ] as const
  ) {
    const fault = await assertRejects(
      () => apiWith(answer).download("documents/x", 1_000, signal),
      Error,
    );
    assertEquals(fault.constructor, kind);
    assert(!fault.message.includes(TOKEN));
  }
  let asked = "";
  const api = apiWith((url) => {
    asked = url;
    return new Response("x");
  });
  assertEquals((await api.download("documents/a b?.txt", 1_000, signal))?.length, 1);
  assertEquals(asked, `http://127.0.0.1:9/file/bot${TOKEN}/documents/a%20b%3F.txt`);
});
