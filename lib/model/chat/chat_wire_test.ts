/**
 * Both speakers of chat completions, ours and the AI SDK's package, over the same servers: what they say,
 * in their order, how it ends, and what they have sent is the same.
 */

import { assert, assertEquals } from "@std/assert";
import { HttpConnection, type HttpRequest } from "../../../tests/fakes/http_connection.ts";
import type { PromptMessage } from "../../contract/messages.ts";
import { importProvider, loadWire } from "../load_wire.ts";
import type { ModelEvent, ModelRequest } from "../port.ts";
import { createProviderModel } from "../provider_model.ts";
import { readProvider } from "../provider_spec.ts";
import { ask, READ_FILE, requestOf, says } from "../testing/ask.ts";
import { createReferenceWire } from "../testing/reference_wire.ts";

type Answer = (connection: HttpConnection) => Promise<void>;

const encoder = new TextEncoder();
const SPEAKERS = { ours: loadWire, reference: createReferenceWire };

/** A server that answers each request so, and notes what it was sent. */
function serve(answer: Answer) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const requests: HttpRequest[] = [];
  const connections: HttpConnection[] = [];
  const accepting = (async () => {
    for await (const socket of listener) {
      const connection = new HttpConnection(socket);
      connections.push(connection);
      void (async () => {
        for (let request; (request = await connection.read()) !== undefined;) {
          requests.push(request);
          await answer(connection);
        }
      })();
    }
  })().catch(() => {});
  return {
    origin: `http://127.0.0.1:${listener.addr.port}`,
    requests,
    connections,
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const connection of connections) connection.destroy();
      await accepting;
    },
  };
}

interface How {
  base?: string;
  section?: Record<string, unknown>;
  settings?: { temperature?: number; maxOutputTokens?: number };
  request?: Partial<ModelRequest>;
}

/** One speaker's model over a server; it is tried once. */
function modelOf(speaker: keyof typeof SPEAKERS, origin: string, how: How = {}) {
  const section = { baseUrl: `${origin}${how.base ?? "/v1"}`, apiKey: "sk-a-very-secret-key" };
  return createProviderModel({
    spec: readProvider("p", { headers: {}, model: "", ...section, ...how.section }),
    id: "m",
    settings: how.settings ?? {},
    contextTokens: 1_000,
    retry: {
      policy: { maxTries: 1, firstDelayMs: 0, maxDelayMs: 0 },
      random: () => 0,
      sleep: () => Promise.resolve(),
    },
    fetch,
    now: () => 0,
    load: SPEAKERS[speaker],
  });
}

/** What a speaker makes of an answer, neighbouring texts together: only a piece's place is its own. */
async function heard(speaker: keyof typeof SPEAKERS, answer: Answer, how: How = {}) {
  await using server = serve(answer);
  const { events, error } = await ask(modelOf(speaker, server.origin, how), how.request);
  const said: ModelEvent[] = [];
  for (const event of events) {
    const last = said.at(-1);
    const isMore = (event.type === "text" || event.type === "reasoning") &&
      last?.type === event.type;
    if (isMore) said[said.length - 1] = { type: event.type, text: last.text + event.text };
    else said.push(event);
  }
  const ids = new Map<string, string>();
  for (const event of said) {
    // An id that a server leaves out is made up.
    if (event.type === "call" && /^[A-Za-z0-9]{16}$/.test(event.call.callId)) {
      ids.set(event.call.callId, `made up ${ids.size}`);
    }
  }
  const shown = JSON.stringify(said).replaceAll(/"([A-Za-z0-9]{16})"/g, (whole, id) => (
    ids.has(id) ? JSON.stringify(ids.get(id)) : whole
  ));
  const sent = server.requests.map(({ path, headers, body }) => ({
    path,
    headers: ["authorization", "content-type", "x-own"].map((name) => headers.get(name)),
    body: JSON.parse(new TextDecoder().decode(body)),
  }));
  const failure = error && {
    code: error.code,
    transient: error.transient,
    details: error.details,
    message: error.message.replaceAll(server.origin, "<origin>"),
  };
  return { said: JSON.parse(shown), failure, sent };
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (delta: unknown, finish_reason: string | null = null, more = {}) =>
  data({ id: "c", choices: [{ index: 0, delta, finish_reason }], ...more });
const STOP = chunk({}, "stop");
const USAGE = data({
  choices: [],
  usage: {
    prompt_tokens: 9,
    completion_tokens: 4,
    prompt_tokens_details: { cached_tokens: 3 },
    completion_tokens_details: { reasoning_tokens: 2 },
  },
});
const DONE = "data: [DONE]\n\n";
const call = (fields: Record<string, unknown>) => chunk({ tool_calls: [fields] });

/** Sends a body in pieces of so many bytes, and ends it or breaks off. */
function stream(
  body: string,
  { bytes = 1 << 20, breaks = false, type = "text/event-stream" } = {},
): Answer {
  return async (connection) => {
    await connection.begin(200, { "content-type": type });
    const all = encoder.encode(body);
    for (let at = 0; at < all.length; at += bytes) {
      await connection.chunk(all.subarray(at, at + bytes));
    }
    if (breaks) connection.destroy();
    else await connection.end();
  };
}

function refuse(status: number, body: string, headers: Record<string, string> = {}): Answer {
  return (connection) => connection.send(status, headers, body);
}

const HELLO = chunk({ role: "assistant", content: "" }) + chunk({ content: "Hé" }) +
  chunk({ content: "llo 𝄞" });

const ANSWERS: Record<string, Answer> = {
  "an ordinary answer": stream(HELLO + STOP + USAGE + DONE),
  "without [DONE]": stream(HELLO + STOP + USAGE),
  "without usage": stream(HELLO + STOP + DONE),
  "usage with every chunk": stream(
    chunk({ content: "a" }, null, { usage: { prompt_tokens: 1, completion_tokens: 1 } }) +
      chunk({}, "stop", { usage: { prompt_tokens: 1, completion_tokens: 2 } }),
  ),
  "usage in part null": stream(STOP + data({ choices: [], usage: { prompt_tokens: null } })),
  "one byte at a time": stream(HELLO + STOP + USAGE + DONE, { bytes: 1 }),
  "three bytes at a time": stream(HELLO + STOP + USAGE + DONE, { bytes: 3 }),
  "CRLF": stream((HELLO + STOP + USAGE + DONE).replaceAll("\n", "\r\n")),
  "CRLF, one byte at a time": stream((HELLO + STOP).replaceAll("\n", "\r\n"), { bytes: 1 }),
  "a byte order mark": stream(`\ufeff${HELLO}${STOP}`),
  "comments, ids and names of events": stream(
    `: ping\n\nid: 1\nevent: message\n${HELLO}:\n\nretry: 10\n\n${STOP}`,
  ),
  "data on several lines": stream(
    'data: {"choices":\ndata: [{"delta":{"content":"a"},\n' +
      'data:"finish_reason":"stop"}]}\n\n',
  ),
  "no space behind the colon": stream((HELLO + STOP).replaceAll("data: ", "data:")),
  "another content type": stream(HELLO + STOP, { type: "text/plain" }),
  "the last event without its blank line": stream((HELLO + STOP).trimEnd()),
  "no choices": stream(HELLO + data({ id: "x" }) + STOP),
  "an empty list of choices": stream(data({ choices: [] }) + HELLO + STOP),
  "two choices": stream(
    data({ choices: [{ delta: { content: "a" } }, { delta: { content: "b" } }] }) + STOP,
  ),
  "a choice without a delta": stream(HELLO + data({ choices: [{ delta: null }] }) + STOP),
  "a delta of null fields": stream(
    chunk({ role: null, content: null, tool_calls: null, refusal: null, reasoning: null }) + STOP,
  ),
  "content as parts": stream(
    chunk({ content: [{ type: "text", text: "a" }, { type: "text", text: "" }, { type: "x" }] }) +
      STOP,
  ),
  "thinking as parts": stream(
    chunk({
      content: [
        { type: "thinking", thinking: [{ type: "text", text: "hm" }, { type: "y" }, null] },
        { type: "text", text: "so" },
      ],
    }) + STOP,
  ),
  "reasoning_content": stream(
    chunk({ reasoning_content: "let me" }) + chunk({ reasoning_content: " see" }) + HELLO + STOP,
  ),
  "reasoning": stream(chunk({ reasoning: "hm" }) + HELLO + STOP),
  "reasoning and text in one chunk": stream(chunk({ reasoning: "hm", content: "so" }) + STOP),
  "reasoning between texts": stream(HELLO + chunk({ reasoning: "hm" }) + HELLO + STOP),
  "thoughts between tags": stream(
    chunk({ content: "<th" }) + chunk({ content: "ink>hm</thi" }) + chunk({ content: "nk> so" }) +
      STOP,
  ),
  "a tag that is never whole": stream(chunk({ content: "1 <" }) + STOP),
  "a tag cut off by reasoning": stream(
    chunk({ content: "1 <" }) + chunk({ reasoning: "hm" }) + chunk({ content: "think>" }) + STOP,
  ),
  "a refusal": stream(chunk({ refusal: "I " }) + chunk({ refusal: "can't" }) + STOP),
  "false for no refusal": stream(chunk({ content: "a", refusal: false }) + STOP),
  "a content filter": stream(HELLO + chunk({}, "content_filter")),
  "length": stream(HELLO + chunk({}, "length")),
  "a reason of its own": stream(HELLO + chunk({}, "eos")),
  "a reason that is a failure": stream(HELLO + chunk({}, "error")),
  "no reason": stream(HELLO + DONE),
  "nothing but [DONE]": stream(DONE),
  "an empty reason": stream(HELLO + chunk({}, "")),
  "a reason, and more text": stream(HELLO + STOP + chunk({ content: "!" })),
  "another reason later": stream(HELLO + STOP + chunk({}, "length")),
  "a call": stream(
    call({ index: 0, id: "a", type: "function", function: { name: "read_file", arguments: "" } }) +
      call({ index: 0, function: { arguments: '{"path":' } }) +
      call({ index: 0, function: { arguments: '"é"}' } }) + chunk({}, "tool_calls") + USAGE,
  ),
  "a call in one piece, after text": stream(
    HELLO + call({ index: 0, id: "a", function: { name: "t", arguments: "{}" } }) + STOP,
  ),
  "a call after reasoning": stream(
    chunk({ reasoning: "hm" }) + call({ index: 0, id: "a", function: { name: "t" } }) + STOP,
  ),
  "text after a call": stream(
    call({ index: 0, id: "a", function: { name: "t", arguments: "{}" } }) + HELLO + STOP,
  ),
  "calls in turns": stream(
    call({ index: 0, id: "a", function: { name: "t", arguments: '{"x"' } }) +
      call({ index: 1, id: "b", function: { name: "u", arguments: '{"y"' } }) +
      call({ index: 0, function: { arguments: ":1}" } }) +
      call({ index: 1, function: { arguments: ":2}" } }) + STOP,
  ),
  "calls against their order": stream(
    call({ index: 1, id: "b", function: { name: "u", arguments: "{}" } }) +
      call({ index: 0, id: "a", function: { name: "t", arguments: "{}" } }) + STOP,
  ),
  "calls of one chunk": stream(
    chunk({
      tool_calls: [
        { index: 0, id: "a", function: { name: "t", arguments: "1" } },
        { index: 1, id: "b", function: { name: "t", arguments: "[" } },
      ],
    }) + STOP,
  ),
  "calls without an index": stream(
    call({ id: "a", function: { name: "t", arguments: "{}" } }) +
      call({ id: "b", function: { name: "t", arguments: "{}" } }) + STOP,
  ),
  "calls without ids": stream(
    call({ index: 0, function: { name: "t", arguments: "{}" } }) +
      call({ index: 1, id: "", function: { name: "t", arguments: "{}" } }) + STOP,
  ),
  "calls of one index": stream(
    call({ index: 0, id: "a", function: { name: "t", arguments: "{}" } }) +
      call({ index: 0, id: "b", function: { name: "u", arguments: "{}" } }) + STOP,
  ),
  "calls of one id": stream(
    call({ index: 0, id: "a", function: { name: "t", arguments: "{}" } }) +
      call({ index: 1, id: "a", function: { name: "t", arguments: "{}" } }) + STOP,
  ),
  "a name that comes late": stream(
    call({ index: 0, id: "a", function: { arguments: '{"x":' } }) +
      call({ index: 0, function: { name: "t", arguments: "1}" } }) + STOP,
  ),
  "a name that is said again": stream(
    call({ index: 0, id: "a", function: { name: "t", arguments: "{" } }) +
      call({ index: 0, id: "a", function: { name: "t", arguments: "}" } }) + STOP,
  ),
  "a call without a name": stream(
    HELLO + call({ index: 0, id: "a", function: { arguments: "{}" } }) + STOP,
  ),
  "a signature of thoughts": stream(
    call({
      index: 0,
      id: "a",
      function: { name: "t", arguments: "{}" },
      extra_content: { google: { thought_signature: "sig" } },
    }) + STOP,
  ),
  "a call without a function": stream(call({ index: 0, id: "a" }) + STOP),
  "an error in the stream": stream(
    HELLO + data({ error: { message: "overloaded.", type: "server_error", code: 503 } }),
  ),
  "an error that is a text": stream(HELLO + data({ error: "gave up" })),
  "an error beside choices": stream(
    data({ choices: [{ delta: { content: "a" } }], error: { message: "boom" } }),
  ),
  "an error of a context": stream(data({ error: { message: "context length exceeded" } })),
  "an event named error": stream(`event: error\n${data({ message: "boom", type: "api_error" })}`),
  "bad JSON": stream(`${HELLO}data: {"broken\n\n${STOP}`),
  "JSON that is no object": stream(`${HELLO}data: 7\n\n${STOP}`),
  "content that is no text": stream(HELLO + chunk({ content: 7 }) + STOP),
  "choices that are no list": stream(HELLO + data({ choices: {} }) + STOP),
  "usage that is no number": stream(
    STOP + data({ choices: [], usage: { prompt_tokens: "many" } }),
  ),
  "a break between chunks": stream(HELLO, { breaks: true }),
  "a break in the middle of a chunk": stream(HELLO + STOP.slice(0, 20), { breaks: true }),
  "a break in the middle of a character": (connection) =>
    connection.begin(200, { "content-type": "text/event-stream" })
      .then(() => connection.chunk(encoder.encode(HELLO)))
      .then(() =>
        connection.chunk(encoder.encode('data: {"choices":[{"delta":{"content":"é').slice(0, -1))
      )
      .then(() => connection.destroy()),
  "bytes that are no UTF-8": async (connection) => {
    await connection.begin(200, { "content-type": "text/event-stream" });
    await connection.chunk(encoder.encode(HELLO));
    await connection.chunk(
      new Uint8Array([...encoder.encode('data: {"choices":[{"delta":{"content":"'), 0xff, 0xc3]),
    );
    await connection.chunk(encoder.encode(`"}}]}\n\n${STOP}`));
    await connection.end();
  },
  "nothing at all": stream(""),
  "no answer": (connection) => Promise.resolve(connection.destroy()),
  "a web page": refuse(200, "<title>Log in</title>"),
  "JSON instead of a stream": refuse(200, '{"choices":[]}'),
  "204": refuse(204, ""),
  "400": refuse(400, '{"error":{"message":"no such thing","type":"invalid_request_error"}}'),
  "401": refuse(401, '{"error":"sk-a-very-secret-key is wrong"}'),
  "404 with a page": refuse(404, "<html><body>Not here</body></html>"),
  "413 of a context": refuse(413, "the prompt is too long: 9 tokens"),
  "429 with Retry-After": refuse(429, '{"message":"slow down"}', { "retry-after": "7" }),
  "429 with Retry-After in milliseconds": refuse(429, "", { "retry-after-ms": "1500" }),
  "429 of a quota": refuse(429, '{"error":{"message":"pay","code":"insufficient_quota"}}'),
  "500 with text": refuse(500, "it broke"),
  "503 without a body": refuse(503, ""),
  "529": refuse(529, '{"error":{"message":"overloaded","type":"overloaded_error"}}'),
  "a redirect": refuse(307, "", { location: "http://127.0.0.1:1/elsewhere" }),
};

Deno.test("both say the same of every answer", async (t) => {
  for (const [name, answer] of Object.entries(ANSWERS)) {
    await t.step(name, async () => {
      const ours = await heard("ours", answer);
      const reference = await heard("reference", answer);
      // Two ways to say that an end is missing.
      const missing = "Response stream ended without a finish reason";
      if (reference.failure?.message.endsWith(missing)) {
        reference.failure.message = reference.failure.message
          .replace(missing, "its stream ended before the answer did");
      }
      assertEquals(ours, reference);
    });
  }
});

const PICTURE = { type: "image" as const, mediaType: "image/png", data: "iVBORw0KGgo=" };
const TALK: PromptMessage[] = [
  { role: "assistant", text: "first", calls: [] },
  says("look"),
  { role: "user", parts: [{ type: "text", text: "at\ud800" }, PICTURE] },
  {
    role: "assistant",
    text: "I do",
    reasoning: "hm",
    calls: [
      { callId: "a:1", tool: "read_file", args: { path: 'é"' } },
      { callId: "b", tool: "read_file", args: "no object" },
    ],
    replay: {
      model: "p/m",
      reasoning: [],
      calls: { "a:1": { chat: { thoughtSignature: "sig" } } },
    },
  },
  {
    role: "tool",
    results: [
      { callId: "a:1", tool: "read_file", output: "text\ud800", failed: false },
      { callId: "b", tool: "read_file", output: "", failed: true },
    ],
  },
  { role: "summary", text: "what was" },
];

const ASKED: Record<string, How> = {
  "as usual": {},
  "no system prompt and no tools": { request: { system: "", tools: [] } },
  "a conversation": { request: { messages: TALK } },
  "a picture alone": { request: { messages: [{ role: "user", parts: [PICTURE] }] } },
  "settings": { settings: { temperature: 0.5, maxOutputTokens: 321 } },
  "tools that are odd": {
    request: {
      tools: [{ ...READ_FILE, description: "a\ud800" }, {
        name: "x",
        description: "",
        parameters: {},
      }],
    },
  },
  "no path": { base: "" },
  "a query": { base: "/v1/?key=a-b&version=2" },
  "a slash": { base: "/v1/" },
  "no key": { section: { apiKey: "" } },
  "headers": { section: { headers: { "X-Own": "1" } } },
};

Deno.test("both send the same", async (t) => {
  for (const [name, how] of Object.entries(ASKED)) {
    await t.step(name, async () => {
      const answer = stream(HELLO + STOP);
      assertEquals(await heard("ours", answer, how), await heard("reference", answer, how));
    });
  }
});

Deno.test("both ask over one connection, and over another when the server has closed it", async () => {
  for (const speaker of ["ours", "reference"] as const) {
    let left = 2;
    await using server = serve(async (connection) => {
      await stream(HELLO + STOP + DONE)(connection);
      if (--left === 0) connection.destroy();
    });
    const model = modelOf(speaker, server.origin);
    for (let asked = 0; asked < 3; asked++) {
      const { finish, error } = await ask(model);
      assertEquals([finish?.reason, error], ["stop", undefined], `${speaker}, request ${asked}`);
      if (asked === 1) {
        await new Promise((resolve) => {
          const { left } = server.connections[0]!;
          if (left.aborted) resolve(undefined);
          else left.addEventListener("abort", resolve);
        });
      }
    }
    assertEquals(server.connections.length, 2, speaker);
  }
});

Deno.test("an own header of any spelling stands in for the key", async () => {
  const how = { section: { headers: { Authorization: "Basic x" } } };
  const { sent } = await heard("ours", stream(HELLO + STOP), how);
  assertEquals(sent[0]!.headers[0], "Basic x");
});

Deno.test("what came before a fault is said before it, in one piece with it too", async () => {
  const { said, failure } = await heard("ours", stream(`${HELLO}data: {"broken\n\n`));
  assertEquals([said, failure.code], [
    [{ type: "text", text: "Hello 𝄞".replace("e", "é") }],
    "provider_error",
  ]);
});

Deno.test("the second request of a conversation begins with the bytes of the first", async () => {
  await importProvider("openai-compatible");
  await using server = serve(stream(HELLO + STOP + DONE));
  const model = modelOf("ours", server.origin);
  const { messages } = requestOf();
  await ask(model);
  await ask(model, {
    messages: [...messages, { role: "assistant", text: "ok", calls: [] }, says("b")],
  });
  const [first, second] = server.requests.map(({ body }) => new TextDecoder().decode(body));
  const end = first!.indexOf("]", first!.indexOf('"messages":'));
  assert(second!.startsWith(first!.slice(0, end)), second);
});
