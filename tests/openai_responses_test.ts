import OpenAI from "openai";
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { type Behaviour, startModelServer } from "./fakes/model_server.ts";
import { conversation } from "./support/conversation.ts";
import { dataUrl, makePdf, PNG } from "./support/documents.ts";
import { makeHome, type Running } from "./support/home.ts";
import { until } from "./support/process_facts.ts";
import { shareService } from "./support/shared_service.ts";

const KEY = "a-key-of-some-length";
const MODEL = "local/fake";

const configFor = (baseUrl: string, more: Record<string, unknown> = {}) => ({
  agent: { model: MODEL },
  providers: { local: { baseUrl } },
  ...more,
});

const shared = shareService((baseUrl) => configFor(baseUrl));

/** `session_id` is a field of this API's own. */
const inSession = (session_id: string) => ({ session_id }) as object;

/** A client, and how many requests it has sent. */
function clientOf(service: Running, apiKey = KEY) {
  const sent: string[] = [];
  const client = new OpenAI({
    baseURL: `${service.apiUrl}/v1`,
    apiKey,
    fetch: (url: string | URL | Request, init?: RequestInit) => {
      sent.push(`${init?.method ?? "GET"} ${new URL(String(url)).pathname}`);
      return fetch(url, init);
    },
  });
  return { client, sent };
}

/** A response in the background, once it runs no more. */
async function ended(client: OpenAI, id: string): Promise<OpenAI.Responses.Response> {
  let response = await client.responses.retrieve(id);
  await until(async () => {
    response = await client.responses.retrieve(id);
    return response.status !== "queued" && response.status !== "in_progress";
  });
  return response;
}

for (const apiKey of ["", KEY]) {
  const name = apiKey === "" ? "without a key" : "with a key";
  Deno.test(`openai responses ${name}: whole, streamed, going on from an earlier one, retrieved, deleted`, async () => {
    await using model = startModelServer({
      script: [
        { text: "Hello there", usage: { input: 7, output: 2 } },
        { reasoning: "I should greet", text: ["Still ", "here"] },
        { text: "Of course" },
      ],
    });
    await using home = await makeHome(configFor(model.baseUrl, { api: { apiKey } }));
    await using service = await home.start();
    const { client } = clientOf(service);

    const first = await client.responses.create({
      model: MODEL,
      input: "My name is Ada",
      metadata: { who: "ada" },
    });
    assertMatch(first.id, /^resp_/);
    assertEquals([first.object, first.status, first.output_text], [
      "response",
      "completed",
      "Hello there",
    ]);
    assertEquals([first.usage!.input_tokens, first.usage!.output_tokens], [7, 2]);
    assertEquals(first.metadata, { who: "ada" });

    const stream = await client.responses.create({
      model: MODEL,
      input: [{ role: "user", content: [{ type: "input_text", text: "Who am I?" }] }],
      previous_response_id: first.id,
      stream: true,
    });
    const types: string[] = [];
    let text = "";
    let second: OpenAI.Responses.Response | undefined;
    let next = 0;
    for await (const event of stream) {
      assertEquals(event.sequence_number, next++);
      if (types.at(-1) !== event.type) types.push(event.type);
      if (event.type === "response.output_text.delta") text += event.delta;
      if (event.type === "response.completed") second = event.response;
    }
    assertEquals(types.filter((type) => !type.includes("reasoning")), [
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.output_item.done",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    assertEquals(text, "Still here");
    assertEquals(second!.output.map(({ type }) => type), ["reasoning", "message"]);
    assertEquals(second!.previous_response_id, first.id);

    const third = await client.responses.stream({
      model: MODEL,
      input: "Again?",
      previous_response_id: second!.id,
    }).finalResponse();
    assertEquals(third.output_text, "Of course");
    assertEquals(conversation(await model.request(2)), [
      ["user", "My name is Ada"],
      ["assistant", "Hello there"],
      ["user", "Who am I?"],
      ["assistant", "Still here"],
      ["user", "Again?"],
    ]);

    const again = await client.responses.retrieve(first.id);
    // What the package adds itself.
    const { output_text: _a, ...stored } = again;
    const { output_text: _b, ...created } = first;
    assertEquals(stored as object, created);
    await client.responses.delete(first.id);
    await assertRejects(() => client.responses.retrieve(first.id), OpenAI.NotFoundError);
    await assertRejects(
      () => client.responses.create({ input: "x", previous_response_id: first.id }),
      OpenAI.NotFoundError,
    );
    assertEquals((await client.responses.retrieve(second!.id)).output_text, "Still here");
  });
}

Deno.test("openai responses: store false leaves no id, and one session has one conversation", async () => {
  await using model = shared.startModel([{ text: "one" }, { text: "two" }]);
  const { client } = clientOf(shared.service);
  const unstored = await client.responses.create({
    input: "first",
    store: false,
    ...inSession("unstored"),
  });
  await assertRejects(() => client.responses.retrieve(unstored.id), OpenAI.NotFoundError);
  const stored = await client.responses.create({ input: "second", ...inSession("unstored") });
  assertEquals(stored.output_text, "two");
  assertEquals(conversation(await model.request(1)), [
    ["user", "first"],
    ["assistant", "one"],
    ["user", "second"],
  ]);
  const mixed = await assertRejects(
    () =>
      client.responses.create({
        input: "x",
        previous_response_id: stored.id,
        ...inSession("mixed"),
      }),
    OpenAI.BadRequestError,
  );
  assertEquals(mixed.type, "invalid_request_error");
  const chat = await client.chat.completions.create({
    model: MODEL,
    messages: [{ role: "user", content: "third" }],
    ...inSession("unstored"),
  });
  assertEquals(chat.choices[0]!.message.content, "two", "the last of the script again and again");
  assertEquals(conversation(await model.request(2)).length, 5, "chat goes on with it");
});

Deno.test("openai responses: one in the background is polled, resumed by number, and cancelled", async () => {
  const release = Promise.withResolvers<void>();
  const words = ["so ", "far ", "so ", "good"];
  await using model = shared.startModel(async ({ index }): Promise<Behaviour> => {
    if (index === 0) await release.promise;
    return index === 0 ? { text: words } : { text: words, hang: 3 };
  });
  const { client } = clientOf(shared.service);

  const started = await client.responses.create({ input: "take your time", background: true });
  assert(["queued", "in_progress"].includes(started.status!), started.status);
  assertEquals(started.background, true);
  await model.request(0);
  assertEquals((await client.responses.retrieve(started.id)).status, "in_progress");
  release.resolve();
  const polled = await ended(client, started.id);
  assertEquals([polled.status, polled.output_text], ["completed", "so far so good"]);

  const seen: OpenAI.Responses.ResponseStreamEvent[] = [];
  for await (const event of await client.responses.retrieve(started.id, { stream: true })) {
    seen.push(event);
  }
  assertEquals(seen.at(-1)!.type, "response.completed");
  for (const startingAfter of [0, 4, seen.length - 2]) {
    const rest: OpenAI.Responses.ResponseStreamEvent[] = [];
    const stream = await client.responses.retrieve(started.id, {
      stream: true,
      starting_after: startingAfter,
    });
    for await (const event of stream) rest.push(event);
    assertEquals(rest, seen.slice(startingAfter + 1));
  }

  const endless = await client.responses.create({ input: "for ever", background: true });
  const request = await model.request(1);
  await request.hanging;
  const cancelled = await client.responses.cancel(endless.id);
  assertEquals(cancelled.status, "cancelled");
  await request.closed;
  assertEquals(request.aborted, true);
  assertEquals((await client.responses.retrieve(endless.id)).status, "cancelled");
});

Deno.test("openai responses: a client that leaves a foreground one ends it, one in the background goes on", async () => {
  await using model = shared.startModel({ text: ["one ", "two ", "three"], hang: 3 });
  const { client } = clientOf(shared.service);
  const foreground = client.responses.stream({ input: "hi", ...inSession("foreground") });
  for await (const { type } of foreground) if (type === "response.output_text.delta") break;
  foreground.abort();
  const request = await model.request(0);
  await request.closed;
  assertEquals(request.aborted, true);

  const background = await client.responses.create({
    input: "hi",
    background: true,
    stream: true,
    ...inSession("background"),
  });
  let id = "";
  for await (const event of background) {
    if (event.type === "response.created") id = event.response.id;
    if (event.type === "response.output_text.delta") break;
  }
  background.controller.abort();
  assertEquals((await client.responses.retrieve(id)).status, "in_progress");
  assertEquals((await model.request(1)).aborted, false);
  await client.responses.cancel(id);
});

Deno.test("openai responses: images and files reach the model", async () => {
  await using model = shared.startModel({ text: "seen" });
  const { client } = clientOf(shared.service);
  const pdf = await makePdf("The secret word is xylophone");
  await client.responses.create({
    input: [{
      role: "user",
      content: [
        { type: "input_text", text: "What is this?" },
        { type: "input_image", image_url: dataUrl(PNG), detail: "auto" },
        { type: "input_file", filename: pdf.name, file_data: dataUrl(pdf) },
      ],
    }],
  });
  const sent = JSON.stringify((await model.request(0)).body.messages);
  assertStringIncludes(sent, "What is this?");
  assertStringIncludes(sent, dataUrl(PNG));
  assertStringIncludes(sent, "paper.pdf");
  assertStringIncludes(sent, "The secret word is xylophone");

  for (
    const [part, code] of [
      [{ type: "input_image", image_url: "https://example.com/a.png" }, "unsupported_image_url"],
      [{
        type: "input_file",
        filename: "a.pdf",
        file_data: dataUrl({ ...pdf, bytes: pdf.bytes.slice(0, 400) }),
      }, "unreadable_document"],
    ] as const
  ) {
    const refused = await assertRejects(
      // deno-lint-ignore no-explicit-any -- as a client without types would
      () => client.responses.create({ input: [{ role: "user", content: [part] }] } as any),
      OpenAI.BadRequestError,
    );
    assertEquals(refused.code, code);
  }
  assertEquals(model.requests.length, 1);
});

Deno.test("openai sees every refusal and failure of both routes as its own class, and sends it once where it must", async (t) => {
  await using model = startModelServer({
    script({ body }): Behaviour {
      const text = JSON.stringify(body.messages.at(-1));
      if (text.includes("rate")) return { status: 429, retryAfter: "3600", error: "slow down" };
      if (text.includes("broken")) return { status: 400, error: "no such thing" };
      if (text.includes("never")) return { hang: "headers" };
      return { text: "fine" };
    },
  });
  await using home = await makeHome(
    configFor(model.baseUrl, {
      api: { apiKey: KEY, authFailuresPerMinute: 3 },
      agent: { model: MODEL, turnTimeoutS: 2 },
    }),
  );
  await using service = await home.start();

  const routes: Record<string, (client: OpenAI, text: string, more?: object) => Promise<unknown>> =
    {
      chat: (client, text, { headers, ...more }: { headers?: Record<string, string> } = {}) =>
        client.chat.completions.create({
          model: MODEL,
          messages: [{ role: text === "" ? "system" : "user", content: text }],
          ...more,
        }, { headers }),
      responses: (client, text, { headers, ...more }: { headers?: Record<string, string> } = {}) =>
        client.responses.create({ model: MODEL, input: text, ...more as object }, { headers }),
    };
  for (const [route, ask] of Object.entries(routes)) {
    /** The error's own class, code and how often the request was sent. */
    const refusal = async (text: string, more: object = {}, apiKey = KEY) => {
      const { client, sent } = clientOf(service, apiKey);
      const error = await assertRejects(
        () => ask(client, text, { ...inSession(route), ...more }),
        OpenAI.APIError,
      );
      return { class: error.constructor.name, code: error.code, times: sent.length };
    };
    await t.step(`${route}: 400, 403, 404, 409`, async () => {
      assertEquals(await refusal(""), {
        class: "BadRequestError",
        code: "no_user_message",
        times: 1,
      });
      assertEquals(await refusal("x", inSession("not an id")), {
        class: "BadRequestError",
        code: "invalid_request",
        times: 1,
      });
      assertEquals(await refusal("x", { model: "gpt-9" }), {
        class: "NotFoundError",
        code: "model_not_found",
        times: 1,
      });
      const { client } = clientOf(service);
      const headers = { "Idempotency-Key": "k" };
      await ask(client, "fine", { headers, ...inSession(route) });
      assertEquals(await refusal("other", { headers }), {
        class: "ConflictError",
        code: "idempotency_key_reused",
        times: 1,
      });
      assertEquals(await refusal("x", { headers: { origin: "https://evil.example" } }), {
        class: "PermissionDeniedError",
        code: "forbidden_origin",
        times: 1,
      });
    });
    await t.step(`${route}: 429, 502 and 504 of the model`, async () => {
      assertEquals(await refusal("rate"), {
        class: "RateLimitError",
        code: "provider_rate_limited",
        times: 1,
      });
      assertEquals(await refusal("broken"), {
        class: "InternalServerError",
        code: "provider_error",
        times: 1,
      });
      assertEquals(await refusal("never"), {
        class: "InternalServerError",
        code: "turn_timeout",
        times: 1,
      });
    });
  }
  await t.step("401, then 429 past the limit, and a right key all the while", async () => {
    const wrong = async () => {
      const { client } = clientOf(service, "wrong");
      client.maxRetries = 0;
      const error = await assertRejects(() => client.models.list(), OpenAI.APIError);
      return [error.constructor.name, error.code];
    };
    for (let time = 0; time < 3; time++) {
      assertEquals(await wrong(), ["AuthenticationError", "invalid_api_key"]);
    }
    assertEquals(await wrong(), ["RateLimitError", "too_many_auth_failures"]);
    assertEquals((await clientOf(service).client.models.list()).data.length, 1);
  });
  await t.step("what nobody serves, and a client's own time-out", async () => {
    const { client } = clientOf(service);
    await assertRejects(
      () => client.embeddings.create({ model: "m", input: "x" }),
      OpenAI.NotFoundError,
    );
    await assertRejects(() => client.responses.retrieve("resp_none"), OpenAI.NotFoundError);
    const before = model.requests.length;
    await assertRejects(
      () => client.responses.create({ input: "never" }, { timeout: 300, maxRetries: 0 }),
      OpenAI.APIConnectionTimeoutError,
    );
    const request = await model.request(before);
    await request.closed;
    assertEquals(request.aborted, true);
  });
  await t.step("no connection", async () => {
    const { client } = clientOf(service);
    client.maxRetries = 0;
    assertEquals(await service.stop(), 0);
    await assertRejects(() => client.models.list(), OpenAI.APIConnectionError);
  });
});

Deno.test("W6 openai sees a stream that fails in the middle as failed, and so it is on record", async () => {
  await using _model = shared.startModel({ text: "one two three four", resetAfter: 3 });
  const { client } = clientOf(shared.service);
  const types: string[] = [];
  let failed: OpenAI.Responses.Response | undefined;
  for await (const event of await client.responses.create({ input: "hi", stream: true })) {
    types.push(event.type);
    if (event.type === "response.failed") failed = event.response;
  }
  assertEquals(types.at(-1), "response.failed");
  assertEquals(types.includes("response.completed"), false);
  assertEquals([failed!.status, failed!.error!.code as string], ["failed", "server_error"]);
  const stored = await client.responses.retrieve(failed!.id);
  assertEquals([stored.status, stored.error!.code as string], ["failed", "server_error"]);
});

Deno.test("W1 a background response goes on after kill -9, and a foreground one says that it was interrupted", async () => {
  await using model = startModelServer({
    script: ({ index }) => index < 2 ? { text: ["so ", "far"], hang: 3 } : { text: "all of it" },
  });
  await using home = await makeHome(configFor(model.baseUrl));
  let background = "";
  let foreground = "";
  {
    await using service = await home.start();
    const { client } = clientOf(service);
    background = (await client.responses.create({
      input: "hi",
      background: true,
      ...inSession("a"),
    })).id;
    await (await model.request(0)).hanging;
    const stream = await client.responses.create({ input: "hi", stream: true, ...inSession("b") });
    for await (const event of stream) {
      if (event.type === "response.created") foreground = event.response.id;
      if (event.type === "response.output_text.delta") break;
    }
    await service.kill();
  }
  await using service = await home.start();
  const { client } = clientOf(service);
  const response = await ended(client, background);
  assertEquals(response.status, "completed");
  assertStringIncludes(response.output_text, "all of it");
  const cut = await client.responses.retrieve(foreground);
  assert(["failed", "cancelled"].includes(cut.status!), cut.status);
});
