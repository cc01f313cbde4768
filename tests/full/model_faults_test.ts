import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Behaviour, startModelServer } from "../fakes/model_server.ts";
import { makeHome } from "../support/home.ts";

interface Answer {
  status: number;
  retryAfter: string | null;
  shouldRetry: string | null;
  // deno-lint-ignore no-explicit-any
  body: any;
}

async function ask(apiUrl: string, content: string, session = "s"): Promise<Answer> {
  const response = await fetch(`${apiUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content }], session_id: session }),
  });
  return {
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    shouldRetry: response.headers.get("x-should-retry"),
    body: await response.json(),
  };
}

/** A service in front of a model that answers each request by the next behaviour. */
async function withModel(
  script: Behaviour[],
  agent: Record<string, unknown>,
  test: (apiUrl: string, requests: () => number, log: () => string) => Promise<void>,
): Promise<void> {
  await using model = startModelServer({ script });
  await using home = await makeHome({
    agent: { model: "local/fake", ...agent },
    providers: { local: { baseUrl: model.baseUrl } },
  });
  await using service = await home.start();
  await test(service.apiUrl, () => model.requests.length, service.log);
}

Deno.test("a slow model is waited for", async () => {
  await withModel([{ text: "at last", headersDelayMs: 300, delayMs: 50 }], {}, async (url) => {
    const { status, body } = await ask(url, "hi");
    assertEquals([status, body.choices[0].message.content], [200, "at last"]);
  });
});

Deno.test("429 and 500 before the first token are tried again, Retry-After kept", async () => {
  const script = [{ status: 429, retryAfter: "1" }, { status: 500 }, { text: "third time" }];
  await withModel(script, {}, async (url, requests) => {
    const { status, body } = await ask(url, "hi");
    assertEquals([status, body.choices[0].message.content], [200, "third time"]);
    assertEquals(requests(), 3);
  });
});

Deno.test("429 for long is passed on with its Retry-After, and not to be repeated", async () => {
  await withModel(
    [{ status: 429, retryAfter: "3600" }, { text: "ok" }],
    {},
    async (url, requests) => {
      const limited = await ask(url, "hi");
      assertEquals([limited.status, limited.body.error.code], [429, "provider_rate_limited"]);
      assertEquals([limited.retryAfter, limited.shouldRetry], ["3600", "false"]);
      assertEquals(requests(), 1);
      assertEquals((await ask(url, "again")).status, 200);
    },
  );
});

for (
  const [name, fault] of Object.entries({
    "cuts the stream": { text: "one two three four", resetAfter: 3 },
    "ends the stream without its end": { text: "one two three four", endAfter: 3 },
    "sends bad JSON": { text: "one two three four", badJsonAfter: 2 },
    "sends an error in the stream": { text: "one two three four", errorAfter: 2 },
  }) as [string, Behaviour][]
) {
  Deno.test(`W6 a model that ${name} fails the turn, and only that turn`, async () => {
    await withModel([fault, { text: "well again" }], {}, async (url) => {
      const failed = await ask(url, "hi");
      assertEquals([failed.status, failed.body.error.code], [502, "provider_error"]);
      assertEquals(failed.shouldRetry, "false");
      assertEquals(failed.body.choices, undefined);
      const next = await ask(url, "again");
      assertEquals([next.status, next.body.choices[0].message.content], [200, "well again"]);
    });
  });
}

Deno.test("W9 a model that hangs is given up after the turn's time, reported, and the lane is free", async () => {
  await withModel([{ hang: "headers" }, { text: "free" }], { turnTimeoutS: 1 }, async (url) => {
    const hung = await ask(url, "hi");
    assertEquals([hung.status, hung.body.error.code], [504, "turn_timeout"]);
    assertEquals((await ask(url, "next")).body.choices[0].message.content, "free");
  });
});

Deno.test("W9 a model that falls silent is noticed by the watchdog, and logged", async () => {
  const script: Behaviour[] = [{ text: "one two three", hang: 3 }, { text: "free" }];
  await withModel(script, { stallTimeoutS: 1, turnTimeoutS: 60 }, async (url, _requests, log) => {
    const hung = await ask(url, "hi");
    assert(hung.status >= 500, String(hung.status));
    assertEquals((await ask(url, "next")).body.choices[0].message.content, "free");
    assertStringIncludes(log().toLowerCase(), "stuck");
  });
});

Deno.test("W7 a stream stays open while tools run, and ends with the answer", async () => {
  const script: Behaviour[] = [
    { text: "Let me look.", calls: [{ tool: "list_files", args: {} }] },
    { text: "It is empty." },
  ];
  await withModel(script, {}, async (url) => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ messages: [{ role: "user", content: "look" }], stream: true }),
    });
    const text = await response.text();
    const chunks = text.split("\n\n").filter((event) => event.startsWith("data: {"))
      .map((event) => JSON.parse(event.slice(6)));
    const said = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
    assertStringIncludes(said, "Let me look.");
    assertStringIncludes(said, "It is empty.");
    const reasons = chunks.map(({ choices }) => choices[0]?.finish_reason).filter(Boolean);
    assertEquals(reasons, ["stop"]);
    assert(text.endsWith("data: [DONE]\n\n"));
  });
});

Deno.test("a fallback model answers when the first is down", async () => {
  await using good = startModelServer({ script: { text: "second best" } });
  await using home = await makeHome({
    agent: { model: "down/m", fallbacks: ["local/fake"] },
    providers: { down: { baseUrl: "http://127.0.0.1:1/v1" }, local: { baseUrl: good.baseUrl } },
  });
  await using service = await home.start();
  const { status, body } = await ask(service.apiUrl, "hi");
  assertEquals([status, body.choices?.[0].message.content], [200, "second best"]);
});

for (const size of [10, 2_000, 1_000_000]) {
  Deno.test(`a client that leaves before its answer ends the model's call (body of ${size} characters)`, async () => {
    await using model = startModelServer({ script: { hang: "headers" } });
    await using home = await makeHome({
      agent: { model: "local/fake", contextTokens: 1_000_000 },
      providers: { local: { baseUrl: model.baseUrl } },
    });
    await using service = await home.start();
    const controller = new AbortController();
    const asking = fetch(`${service.apiUrl}/v1/chat/completions`, {
      method: "POST",
      signal: controller.signal,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ messages: [{ role: "user", content: "x".repeat(size) }] }),
    }).catch((error) => error.name);
    const request = await model.request(0);
    await request.hanging;
    controller.abort();
    assertEquals(await asking, "AbortError");
    await request.closed;
    assertEquals(request.aborted, true);
  });
}
