import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ProviderError } from "./provider_error.ts";
import { createProviderFetch } from "./provider_fetch.ts";
import { readProvider } from "./provider_spec.ts";

const EVENT_STREAM = { headers: { "content-type": "text/event-stream" } };
const KEY = "sk-very-secret-key";

function specFor(baseUrl: string, apiKey = KEY, headers: Record<string, string> = {}) {
  return readProvider("fake", { baseUrl, apiKey, headers, model: "" });
}

/** What a fetch that is answered like this gives. */
async function failure(
  outcome: Response | Error,
  baseUrl = "https://user:pw@models.example/v1?key=sk-in-the-url",
): Promise<ProviderError> {
  const fetch = createProviderFetch({
    spec: specFor(baseUrl),
    fetch: () => outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome),
  });
  try {
    const response = await fetch("https://models.example/v1/x", { method: "POST" });
    await response.bytes();
  } catch (error) {
    assert(error instanceof ProviderError);
    return error;
  }
  throw new Error("it did not fail");
}

Deno.test("createProviderFetch() says why a provider cannot be reached, without what is secret", async () => {
  const cases: [Error, string, boolean][] = [
    [
      new TypeError(
        "error sending request for url (https://x/?key=sk-in-the-url): client error (Connect): tcp connect error: Connection refused (os error 111)",
      ),
      "connection refused; is it running?",
      true,
    ],
    [
      new TypeError("fetch failed", { cause: new Error("dns error: failed to lookup address") }),
      "its name cannot be resolved; check providers.fake.baseUrl",
      true,
    ],
    [new TypeError("invalid peer certificate: UnknownIssuer"), "certificate is not trusted", false],
    [new TypeError("received corrupt message of type InvalidContentType"), "http or https?", true],
    [new TypeError("operation timed out"), "the connection timed out", true],
    [new TypeError("something else"), "the connection failed", true],
    [new Deno.errors.NotCapable("net"), "restart it after a change of the providers", false],
  ];
  for (const [cause, part, transient] of cases) {
    const error = await failure(cause);
    assertEquals([error.code, error.transient], ["provider_unreachable", transient], part);
    assertStringIncludes(error.message, "cannot reach fake at https://models.example/v1: ");
    assertStringIncludes(error.message, part);
    assert(!/sk-|user|pw/.test(error.message), error.message);
  }
});

Deno.test("createProviderFetch() follows no redirect, and says where it points", async () => {
  const location = "https://elsewhere.example/v2/?token=t";
  const error = await failure(new Response(null, { status: 308, headers: { location } }));
  assertEquals([error.code, error.transient], ["provider_error", false]);
  assertEquals(error.details, { providerStatus: 308 });
  assertStringIncludes(error.message, "redirects to https://elsewhere.example/v2/, which");

  const followed: string[] = [];
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    followed.push(new URL(request.url).pathname);
    return Response.redirect(new URL("/other", request.url), 307);
  });
  const baseUrl = `http://127.0.0.1:${server.addr.port}`;
  const fetch = createProviderFetch({ spec: specFor(baseUrl), fetch: globalThis.fetch });
  const real = await fetch(`${baseUrl}/v1`, { method: "POST" }).catch((error) => error);
  assertEquals(real.details, { providerStatus: 307 });
  assertEquals(followed, ["/v1"]);
});

Deno.test("createProviderFetch() reads only the beginning of an error", async () => {
  let sent = 0;
  let cancelled = false;
  const endless = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      sent += 10_000;
      controller.enqueue(new Uint8Array(10_000));
    },
    cancel: () => void (cancelled = true),
  });
  const fetch = createProviderFetch({
    spec: specFor("http://h/v1"),
    fetch: () => Promise.resolve(new Response(endless, { status: 500 })),
  });
  const body = await (await fetch("http://h/v1")).bytes();
  assertEquals(body.length, 64 * 1024);
  assert(sent < 200_000 && cancelled);
});

Deno.test("createProviderFetch() ends an answer beyond its bounds", async () => {
  async function read(chunks: string[], { goesOn = true } = {}) {
    let cancelled = false;
    const body = new ReadableStream({
      pull(controller) {
        const chunk = chunks.shift();
        if (chunk !== undefined) controller.enqueue(new TextEncoder().encode(chunk));
        else if (!goesOn) controller.close();
      },
      cancel: () => void (cancelled = true),
    });
    const fetch = createProviderFetch({
      spec: specFor("http://h/v1"),
      fetch: () => Promise.resolve(new Response(body, EVENT_STREAM)),
      bounds: { maxLineBytes: 10, maxBytes: 40 },
    });
    const response = await fetch("http://h/v1");
    const text = await response.text().catch((error) => error);
    return { text: text instanceof Error ? text.message : text, cancelled };
  }
  const whole = await read(["123456789\n12", "345678\n\n", "1234567890"], { goesOn: false });
  assertEquals(whole, { text: "123456789\n12345678\n\n1234567890", cancelled: false });
  const line = await read(["12345", "67890", "1"]);
  assertEquals(line, { text: "fake sent an answer beyond 10 bytes in one line", cancelled: true });
  const long = await read(Array.from({ length: 10 }, () => "12345678\n"));
  assertEquals(long, { text: "fake sent an answer beyond 40 bytes", cancelled: true });
});

Deno.test("createProviderFetch() sends no empty key", async () => {
  const seen: [string | null, string | null][] = [];
  const capture: typeof fetch = (_input, init) => {
    const headers = new Headers(init?.headers);
    seen.push([headers.get("authorization"), headers.get("x-api-key")]);
    return Promise.resolve(new Response("data: ok"));
  };
  const headers = { authorization: "Bearer ", "x-api-key": "" };
  for (
    const spec of [
      specFor("http://h", ""),
      specFor("http://h", "", { Authorization: "Basic x" }),
      specFor("http://h", "key"),
    ]
  ) {
    await createProviderFetch({ spec, fetch: capture })("http://h", { headers });
  }
  assertEquals(seen, [[null, null], ["Bearer", null], ["Bearer", ""]]);
});

Deno.test("createProviderFetch() hands a stream of events on byte for byte, however it is cut", async () => {
  const whole = [
    ": ping\n\ndata: {}\n\n",
    "\ufeffevent: message_start\ndata: {}\n\n",
    "\n\n  \n\nid: 1\ndata: ü\n\n",
    ":\n",
    "retry: 5\n\n",
  ];
  for (const text of whole) {
    const bytes = new TextEncoder().encode(text);
    for (const size of [1, 2, 3, 7, 100]) {
      let at = 0;
      const body = new ReadableStream({
        pull(controller) {
          if (at >= bytes.length) return controller.close();
          controller.enqueue(bytes.slice(at, at += size));
        },
      });
      const fetch = createProviderFetch({
        spec: specFor("http://h/v1"),
        fetch: () => Promise.resolve(new Response(body)),
      });
      assertEquals(await (await fetch("http://h/v1")).bytes(), bytes, text);
    }
  }
});

Deno.test("createProviderFetch() says what is answered instead of a stream, without what is secret", async () => {
  const cases: [string, string, boolean][] = [
    [`<html><title>Log in ${KEY}</title>`, 'a web page ("Log in [secret]")', false],
    [`\n  <!doctype html>`, "a web page", false],
    [`{"error":{"message":"no such path"}}`, 'JSON ("no such path")', false],
    [`[]`, "JSON", false],
    ["Ollama is running", 'text ("Ollama is running")', false],
    ["data", 'text ("data")', false],
    [" \n", "an empty body", true],
  ];
  for (const [body, what, transient] of cases) {
    const error = await failure(new Response(body));
    assertEquals([error.code, error.transient], ["provider_unreachable", transient], body);
    assertStringIncludes(
      error.message,
      `https://models.example/v1/x answered with ${what} instead of a model's stream; check ` +
        "providers.fake.baseUrl",
    );
  }
});
