import { assert, assertEquals } from "@std/assert";
import { type AgentEvent, NO_USAGE } from "../../../contract/events.ts";
import { ERROR_CODES, ServiceError } from "../../../base/errors.ts";
import { HTTP_ERRORS } from "../../../listen/error_table.ts";
import { ended, failed, FakeTurns, says, staysSilent } from "../../testing/fake_turns.ts";
import { askingTurn } from "../../testing/asking_turn.ts";
import { ManualClock } from "../../testing/manual_clock.ts";
import { startTestApi, type TestApi, type TestApiOptions } from "../../testing/test_api.ts";
import { OPERATIONS } from "./operations.ts";
import { Conformance, dataOf } from "./testing/conformance.ts";

const conformance = new Conformance();

/** Sends a request, holds its answer against the document, and gives its body. */
async function ask(
  api: TestApi,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  const isForm = body instanceof FormData;
  const response = await fetch(api.url + path, {
    method,
    headers: body === undefined || isForm ? headers : {
      "content-type": "application/json",
      ...headers,
    },
    body: body === undefined || isForm ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const problems = conformance.problemsOfAnswer({
    method,
    path,
    status: response.status,
    contentType: response.headers.get("content-type"),
    body: text,
  });
  assertEquals(problems, [], `${method} ${path} ${response.status} ${text}`);
  return { status: response.status, text };
}

const USER = { messages: [{ role: "user", content: "hi" }] };
const CHAT = "/v1/chat/completions";

/** A turn that says everything that a turn can say. */
function* talkative(): Generator<AgentEvent> {
  yield { type: "reasoning_delta", streamId: "r1", text: "Let me" };
  yield { type: "reasoning_delta", streamId: "r1", text: " see" };
  yield { type: "reasoning_end", streamId: "r1" };
  yield* says(["I look"], { streamId: "s1", resuming: true });
  yield { type: "usage", model: "fake/one", usage: NO_USAGE };
  yield { type: "tool_call", callId: "c1", tool: "read_file", args: {}, hint: "read_file a" };
  yield { type: "tool_progress", callId: "c1", tool: "read_file", text: "half" };
  yield { type: "tool_result", callId: "c1", tool: "read_file", status: "ok", output: "text" };
  yield { type: "notice", text: "The model is asked again" };
  yield { type: "summary", text: "so far" };
  yield* says(["It", " says"], { streamId: "s2" });
  yield { type: "usage", model: "fake/one", usage: NO_USAGE };
  yield ended({ inputTokens: 11, outputTokens: 5, reasoningTokens: 2, cachedTokens: 1 });
}

const cutOff = [
  ...says(["It en"]),
  { ...ended(), finishReason: "length" as const },
];

const scripts: Record<string, TestApiOptions["script"]> = {
  talkative,
  "at its limit": () => cutOff,
  silent: () => [],
  "failing late": function* () {
    yield* says(["Hel"]);
    yield* failed({ code: "provider_unreachable", message: "It broke off" });
  },
  "failing early": () => failed({ code: "provider_error", message: "no", providerStatus: 500 }),
};

for (const [name, script] of Object.entries(scripts)) {
  Deno.test(`the answers about a turn that is ${name} are what the document says`, async () => {
    await using api = await startTestApi({ script });
    await ask(api, "POST", CHAT, USER);
    const options = { include_usage: true, include_progress: true };
    await ask(api, "POST", CHAT, { ...USER, stream: true });
    const all = await ask(api, "POST", CHAT, { ...USER, stream: true, stream_options: options });
    if (script === talkative) {
      const chunks = dataOf(all.text).slice(0, -1).map((data) => JSON.parse(data));
      assertEquals(
        [...new Set(chunks.map((chunk) => chunk.service?.type))].sort(),
        ["notice", "tool_call", "tool_progress", "tool_result", undefined],
      );
    }

    await ask(api, "POST", "/v1/responses", { input: "hi" });
    await ask(api, "POST", "/v1/responses", { input: "hi", metadata: { a: "b" }, store: false });
    const stream = await ask(api, "POST", "/v1/responses", { input: "hi", stream: true });
    const { response: { id } } = JSON.parse(dataOf(stream.text).at(-1)!);
    await ask(api, "GET", `/v1/responses/${id}`);
    await ask(api, "GET", `/v1/responses/${id}?stream=true&starting_after=2`);
    await ask(api, "POST", `/v1/responses/${id}/cancel`);
    assertEquals((await ask(api, "DELETE", `/v1/responses/${id}`)).status, 200);
    assertEquals((await ask(api, "GET", `/v1/responses/${id}`)).status, 404);
  });
}

Deno.test("the answers that ask a client about an action are what the document says", async () => {
  const { script } = askingTurn();
  await using api = await startTestApi({ script, clock: new ManualClock() });
  const asking = { ...USER, tools: [{ type: "function", function: { name: "service_approval" } }] };
  const whole = JSON.parse((await ask(api, "POST", CHAT, asking)).text);
  assertEquals(whole.choices[0].finish_reason, "tool_calls");
  const all = await ask(api, "POST", CHAT, { ...asking, stream: true });
  assertEquals(dataOf(all.text).at(-1), "[DONE]");
});

Deno.test("the answers about a turn in the background are what the document says", async () => {
  await using api = await startTestApi({ script: staysSilent });
  const created = await ask(api, "POST", "/v1/responses", { input: "hi", background: true });
  const { id, status } = JSON.parse(created.text);
  assertEquals(status, "in_progress");
  assertEquals((await ask(api, "DELETE", `/v1/responses/${id}`)).status, 409);
  const cancelled = await ask(api, "POST", `/v1/responses/${id}/cancel`);
  assertEquals(JSON.parse(cancelled.text).status, "cancelled");
  await ask(api, "GET", `/v1/responses/${id}?stream=true`);
});

Deno.test("the answers of the other routes are what the document says", async () => {
  let ok = true;
  await using api = await startTestApi({
    checks: () => ({ journal: { ok, detail: "open" }, sandbox: { ok: true, detail: "there" } }),
  });
  assertEquals((await ask(api, "GET", "/health")).status, 200);
  assertEquals((await ask(api, "GET", "/ready")).status, 200);
  ok = false;
  assertEquals((await ask(api, "GET", "/ready")).status, 503);
  assertEquals((await ask(api, "GET", "/v1/models")).status, 200);
  for (const id of ["fake/one", "fake%2Fone"]) {
    assertEquals((await ask(api, "GET", `/v1/models/${id}`)).status, 200, id);
  }
  assertEquals((await ask(api, "GET", "/v1/models/other")).status, 404);
  assertEquals((await ask(api, "GET", "/openapi.json")).status, 200);
  assertEquals(
    (await ask(api, "GET", "/openapi.json", undefined, { "if-none-match": "*" })).status,
    304,
  );
  assertEquals((await ask(api, "GET", "/nothing")).status, 404);
  assertEquals((await ask(api, "DELETE", CHAT)).status, 405);
});

Deno.test("every operation answers a foreign page and a wrong key as the document says", async () => {
  await using api = await startTestApi({ config: { apiKey: "right-key" } });
  for (const { method, path, open } of OPERATIONS) {
    const real = path.replace("{id}", "resp_1");
    const origin = { origin: "https://elsewhere.example" };
    const foreign = await ask(api, method.toUpperCase(), real, undefined, origin);
    assertEquals(foreign.status, 403);
    const wrong = { authorization: "Bearer wrong-key" };
    const refused = await ask(api, method.toUpperCase(), real, undefined, wrong);
    assertEquals(refused.status, open ? 200 : 401, path);
  }
});

Deno.test("each error of a turn has a status that the document gives to both POST routes", async () => {
  const turns = new FakeTurns(() => []);
  await using api = await startTestApi({ turns });
  const [chat, responses] = OPERATIONS;
  const codes = ERROR_CODES.filter((code) =>
    chat!.errors.includes(code) && responses!.errors.includes(code)
  );
  assert(codes.length > 20);
  for (const code of codes) {
    turns.refusal = new ServiceError(code, "no", { param: "x", retryAfterS: 3 });
    for (const [path, body] of [[CHAT, USER], ["/v1/responses", { input: "hi" }]] as const) {
      const { status } = await ask(api, "POST", path, body);
      assertEquals(status, HTTP_ERRORS[code].status, code);
    }
  }
});

Deno.test("the form takes each field that the document names", async () => {
  await using api = await startTestApi();
  const form = new FormData();
  form.set("message", "What is this?");
  form.append("files", new File(["one"], "one.txt"));
  form.append("files", new File(["two"], "two.txt"));
  form.set("session_id", "form");
  form.set("model", "fake/one");
  form.set("stream", "true");
  const fields = Object.keys(
    conformance.document.components.schemas.ChatForm.properties as Record<string, unknown>,
  );
  assertEquals([...new Set(form.keys())].sort(), fields.sort());
  const { text } = await ask(api, "POST", CHAT, form);
  assertEquals(dataOf(text).at(-1), "[DONE]");
  const [turn] = api.turns.accepted;
  assertEquals(turn!.request.sessionKey, "api:form");
  assertEquals(turn!.request.input.length, 3);
});

Deno.test("what the document takes as a request is taken, and what it refuses is refused", async () => {
  await using api = await startTestApi();
  const png = "data:image/png;base64,iVBORw0KGgo=";
  const text = "data:text/plain;base64,aGVsbG8=";
  const chats: [unknown, number][] = [
    [{ messages: [{ role: "assistant", content: null }, { role: "user", content: "hi" }] }, 200],
    [{ messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }] }, 200],
    [{
      messages: [{
        role: "user",
        content: [{ type: "image_url", image_url: { url: png } }, {
          type: "file",
          file: { filename: "a.txt", file_data: text },
        }],
      }],
      session_id: "a",
      model: "fake/one",
      stream: null,
      stream_options: { include_usage: true },
      temperature: 1,
    }, 200],
    [{ ...USER, tools: [{ type: "function", function: { name: "service_approval" } }] }, 200],
    [{ messages: [] }, 400],
    [{ messages: "hi" }, 400],
    [{ messages: [{ content: "hi" }] }, 400],
    [{ ...USER, session_id: "a b" }, 400],
    [{ ...USER, stream: "yes" }, 400],
    [{ ...USER, model: 3 }, 400],
    [{}, 400],
  ];
  const inputs: [unknown, number][] = [
    [{ input: "hi" }, 200],
    [{ input: [{ role: "user", content: "hi" }] }, 200],
    [{ input: [{ type: "input_text", text: "hi" }] }, 200],
    [{ input: [{ type: "item_reference", id: "msg_1" }, { role: "user", content: "hi" }] }, 200],
    [{
      input: [{
        type: "message",
        role: "user",
        content: [{ type: "input_image", image_url: png }, {
          type: "input_file",
          filename: "a.txt",
          file_data: text,
        }],
      }],
      store: false,
      metadata: { a: "b" },
      tools: [],
      instructions: "Be brief",
    }, 200],
    [{ input: [] }, 400],
    [{ input: [{ type: "reasoning", summary: [] }] }, 400],
    [{ input: 3 }, 400],
    [{ input: "hi", metadata: { a: 1 } }, 400],
    [{ input: "hi", metadata: { ["a".repeat(65)]: "b" } }, 400],
    [{ input: "hi", previous_response_id: "chatcmpl-1" }, 400],
    [{ input: "hi", conversation: "conv_1" }, 400],
    [{ input: "hi", background: "yes" }, 400],
    [{}, 400],
  ];
  for (const [path, cases] of [[CHAT, chats], ["/v1/responses", inputs]] as const) {
    for (const [body, status] of cases) {
      const problems = conformance.problemsOfRequest("POST", path, body);
      const told = JSON.stringify([body, problems]);
      assertEquals(problems.length === 0, status === 200, told);
      assertEquals((await ask(api, "POST", path, body)).status, status, told);
    }
  }
});
