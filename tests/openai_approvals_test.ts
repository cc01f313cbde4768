/** Actions that wait, answered through the `openai` package alone: as tool calls of the service. */

import OpenAI from "openai";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { RecordedRequest } from "./fakes/model_server.ts";
import { until } from "./support/process_facts.ts";
import { shareService } from "./support/shared_service.ts";

type Message = OpenAI.ChatCompletionMessageParam;
type Call = OpenAI.ChatCompletionMessageFunctionToolCall;

const shared = shareService((baseUrl) => ({
  agent: { model: "local/fake" },
  providers: { local: { baseUrl } },
}));
const tokens: Record<string, string> = {};

Deno.test.beforeAll(async () => {
  for (const scope of ["approve", "read"]) {
    const { stdout, stderr } = await shared.home.run(["tokens", "issue", "--scopes", scope]);
    tokens[scope] = stdout.trim();
    assert(tokens[scope]!.length > 20, stderr);
  }
});

const TOOLS: OpenAI.ChatCompletionFunctionTool[] = [
  { type: "function", function: { name: "service_approval" } },
  { type: "function", function: { name: "lights_off" } },
];

/** A model that writes the last words of the person outside the workspace, file after file. */
const writes = ({ body }: RecordedRequest) => {
  const said = body.messages.findLast(({ role }: Message) => role === "user").content as string;
  const results = body.messages.slice(body.messages.findLastIndex(
    ({ role }: Message) => role === "user",
  )).filter(({ role }: Message) => role === "tool");
  const files = said.split(" ").slice(1);
  const next = files[results.length];
  if (next === undefined) return { text: `done: ${results.at(-1)?.content ?? "nothing"}` };
  return { text: "I write.", calls: [{ tool: "write_file", args: { path: next, content: "hi" } }] };
};

/** A person at an OpenAI client, in a session of their own. */
function person(name: string) {
  const { service, home } = shared;
  const clientOf = (apiKey: string) => new OpenAI({ baseURL: `${service.apiUrl}/v1`, apiKey });
  const messages: Message[] = [];
  const file = (n: number) => `${home.dir}/${name}-${n}.txt`;

  async function ask(
    more: Message[] = [],
    { apiKey = tokens.approve!, session = name, tools = TOOLS, key }: {
      apiKey?: string;
      session?: string;
      tools?: typeof TOOLS;
      key?: string;
    } = {},
  ) {
    const completion = await clientOf(apiKey).chat.completions.create({
      model: "local/fake",
      messages: [...messages, ...more],
      tools,
      session_id: session,
    } as OpenAI.ChatCompletionCreateParamsNonStreaming, {
      headers: key === undefined ? {} : { "idempotency-key": key },
    });
    const [choice] = completion.choices;
    return { completion, choice: choice!, call: choice!.message.tool_calls?.[0] as Call };
  }

  return {
    ask,
    clientOf,
    messages,
    file,
    /** Opens a turn that writes so many files, up to its first call. */
    async open(files = 1, options?: Parameters<typeof ask>[1]) {
      const paths = Array.from({ length: files }, (_, n) => file(n));
      messages.push({ role: "user", content: `write ${paths.join(" ")}` });
      const asked = await ask([], options);
      assertEquals(asked.choice.finish_reason, "tool_calls");
      messages.push(asked.choice.message);
      return asked;
    },
    written: (n = 0) => Deno.readTextFile(file(n)).catch(() => undefined),
    async waiting(): Promise<string[]> {
      const response = await fetch(`${service.apiUrl}/api/webui/approvals`, {
        headers: { authorization: `Bearer ${tokens.approve}` },
      });
      const { approvals } = await response.json();
      return approvals.filter(({ session }: { session: string }) => session === `api:${name}`)
        .map(({ id }: { id: string }) => `approval_${id}`);
    },
  };
}

const result = (call: { id: string }, content: object | string): Message => ({
  role: "tool",
  tool_call_id: call.id,
  content: typeof content === "string" ? content : JSON.stringify(content),
});

Deno.test("an action that waits is a call of service_approval, and its result lets it run", async () => {
  await using model = shared.startModel(writes);
  const ada = person("whole");
  const { call, completion, choice } = await ada.open(2);
  assertEquals([call.function.name, choice.message.content], ["service_approval", "I write."]);
  const shown = JSON.parse(call.function.arguments);
  assertEquals([shown.capability, shown.target, shown.tool], [
    "fs.write",
    ada.file(0),
    "write_file",
  ]);
  assertStringIncludes(shown.details, "content: hi");
  assertEquals([`approval_${shown.id}`, shown.whole], [call.id, true]);
  assertEquals(shown.expires_at - shown.created_at, 120);
  assertEquals([await ada.written(), await ada.waiting()], [undefined, [call.id]]);

  // The text of a segment is told in it, and in no other; so are its tokens.
  const next = await ada.ask([result(call, { decision: "approve", digest: shown.digest })]);
  assertEquals([next.choice.finish_reason, next.choice.message.content], [
    "tool_calls",
    "I write.",
  ]);
  assertEquals([await ada.written(0), await ada.written(1)], ["hi", undefined]);
  const last = await ada.ask([result(next.call, { decision: "approve" })]);
  assertEquals(last.choice.finish_reason, "stop");
  assertStringIncludes(last.choice.message.content!, "done: ");
  assertEquals(await ada.written(1), "hi");
  const completions = [completion, next.completion, last.completion];
  assertEquals(new Set(completions.map(({ id }) => id)).size, 3);
  const listed = await shared.home.run(["sessions", "export", "api:whole"]);
  const events = listed.stdout.trim().split("\n").map((line) => JSON.parse(line).event?.event);
  const end = events.find((event) => event?.type === "turn_end");
  assertEquals(
    completions.reduce((sum, { usage }) => sum + usage!.total_tokens, 0),
    end.usage.inputTokens + end.usage.outputTokens,
  );
  // The conversation goes on; what was decided, and by what token, never reached the model.
  ada.messages.push(result(next.call, { decision: "approve" }), last.choice.message);
  ada.messages.push({ role: "user", content: "thanks" });
  const { choice: { message } } = await ada.ask([], { tools: [] });
  assertEquals(message.content, "done: nothing");
  assert(!JSON.stringify(model.requests.at(-1)!.body).includes("decision"));
});

Deno.test("streamed: the call is a chunk, tool_calls the reason, and the next stream goes on", async () => {
  await using _model = shared.startModel(writes);
  const ada = person("streamed");
  const client = ada.clientOf(tokens.approve!);
  const stream = async (messages: Message[]) => {
    const runner = client.chat.completions.stream({
      model: "local/fake",
      messages,
      tools: TOOLS,
      stream_options: { include_usage: true },
    }, { headers: { "x-session-id": "streamed" } });
    return await runner.finalChatCompletion();
  };
  const asked: Message = { role: "user", content: `write ${ada.file(0)}` };
  const first = await stream([asked]);
  const { message, finish_reason } = first.choices[0]!;
  assertEquals([finish_reason, message.content], ["tool_calls", "I write."]);
  const call = message.tool_calls![0] as Call;
  assertEquals(JSON.parse(call.function.arguments).target, ada.file(0));
  const last = await stream([asked, message, result(call, { decision: "approve" })]);
  assertEquals(last.choices[0]!.finish_reason, "stop");
  assertStringIncludes(last.choices[0]!.message.content!, "done: ");
  assert(first.usage!.total_tokens > 0 && last.usage!.total_tokens > 0);
});

Deno.test("a denial tells its reason; the token may stand in the result", async () => {
  await using model = shared.startModel(writes);
  const ada = person("denied");
  const { call } = await ada.open(1, { apiKey: "unused" });
  const { choice } = await ada.ask([
    result(call, { decision: "deny", reason: "not there", token: tokens.approve }),
  ], { apiKey: "unused" });
  assertStringIncludes(choice.message.content!, "a person denied it and said: not there");
  assertEquals(await ada.written(), undefined);
  assert(!JSON.stringify(model.requests.map(({ body }) => body)).includes(tokens.approve!));
});

Deno.test("without service_approval among its tools nothing changes", async () => {
  await using _model = shared.startModel(writes);
  const ada = person("plain");
  ada.messages.push({ role: "user", content: `write ${ada.file(0)}` });
  const answer = ada.ask([], { tools: TOOLS.slice(1) });
  await until(async () => (await ada.waiting()).length > 0);
  const [id] = await ada.waiting();
  // Nobody was offered this one as a call.
  const error = await assertRejects(
    () =>
      ada.ask([{ role: "assistant", content: "" }, result({ id: id! }, { decision: "approve" })]),
    OpenAI.NotFoundError,
  );
  assertStringIncludes(error.message, "not as a tool call of the session api:plain");
  await fetch(`${shared.service.apiUrl}/api/webui/approvals/${id!.slice(9)}/deny`, {
    method: "POST",
    headers: { authorization: `Bearer ${tokens.approve}`, "content-type": "application/json" },
    body: "{}",
  });
  assertStringIncludes((await answer).choice.message.content!, "a person denied it");
});

Deno.test("what may not answer gets an error that says why, and the action still waits", async () => {
  await using _model = shared.startModel(writes);
  const ada = person("hostile");
  const { call } = await ada.open();
  const stranger = person("elsewhere");
  const other = await stranger.open();
  const approve = { decision: "approve" };
  const { digest } = JSON.parse(other.call.function.arguments);
  type Case = [string, Message, Parameters<typeof ada.ask>[1], number, string, string];
  const cases: Case[] = [
    ["no token", result(call, approve), { apiKey: "unused" }, 403, "insufficient_scope", "tokens"],
    [
      "a token that may read",
      result(call, approve),
      { apiKey: tokens.read },
      403,
      "insufficient_scope",
      "scope approve",
    ],
    [
      "the like in the result",
      result(call, { ...approve, token: tokens.read }),
      {},
      403,
      "insufficient_scope",
      "scope approve",
    ],
    [
      "an invented token",
      result(call, { ...approve, token: "tok" }),
      {},
      403,
      "insufficient_scope",
      "tokens",
    ],
    [
      "a foreign session",
      result(other.call, approve),
      {},
      404,
      "approval_not_found",
      "api:hostile",
    ],
    [
      "a session that is none",
      result(call, approve),
      { session: "nowhere" },
      404,
      "approval_not_found",
      "api:nowhere",
    ],
    [
      "a forged id",
      result({ id: "approval_apr_0000000000000000" }, approve),
      {},
      404,
      "approval_not_found",
      "apr_0000000000000000",
    ],
    [
      "a monstrous id",
      result({ id: `approval_${"x".repeat(100_000)}` }, approve),
      {},
      404,
      "approval_not_found",
      "xxx",
    ],
    [
      "an id that is no approval",
      result({ id: "call_1" }, approve),
      {},
      400,
      "invalid_request",
      "tool",
    ],
    [
      "the digest of another action",
      result(call, { ...approve, digest }),
      {},
      409,
      "approval_mismatch",
      "still waits",
    ],
    [
      "the same as a denial",
      result(call, { decision: "deny", digest }),
      {},
      409,
      "approval_mismatch",
      "still waits",
    ],
    [
      "that without a token",
      result(call, { decision: "deny", digest }),
      { apiKey: "unused" },
      403,
      "insufficient_scope",
      "tokens",
    ],
    [
      "another decision",
      result(call, { decision: "allow_always" }),
      {},
      400,
      "invalid_request",
      "approve or deny",
    ],
    [
      "a huge reason",
      result(call, { decision: "deny", reason: "x".repeat(5_000) }),
      {},
      400,
      "invalid_request",
      "1,000 characters",
    ],
    [
      "a monstrous reason",
      result(call, { decision: "deny", reason: "x".repeat(5_000_000) }),
      {},
      400,
      "invalid_request",
      "16000",
    ],
    ["no JSON", result(call, "yes"), {}, 400, "invalid_request", "JSON"],
  ];
  for (const [name, message, options, status, code, words] of cases) {
    const error = await assertRejects(() => ada.ask([message], options), OpenAI.APIError, "", name);
    assertEquals([error.status, error.code], [status, code], `${name}: ${error.message}`);
    assertStringIncludes(error.message, words, name);
    assert(!error.message.includes(tokens.read!), name);
    assertEquals([await ada.waiting(), await ada.written()], [[call.id], undefined], name);
  }
  const { choice } = await ada.ask([result(call, approve)]);
  assertStringIncludes(choice.message.content!, "done: ");
  assertEquals(await ada.written(), "hi");
  await stranger.ask([result(other.call, { decision: "deny" })]);
});

Deno.test("an answer counts once: the same again tells the same, another is refused", async () => {
  await using model = shared.startModel(writes);
  const ada = person("twice");
  const first = await ada.open(1, { key: "k1" });
  const approve = result(first.call, { decision: "approve" });
  const both = await Promise.all([ada.ask([approve]), ada.ask([approve], { key: "k2" })]);
  const again = await ada.ask([approve], { key: "k2" });
  for (const { completion } of [...both, again]) assertEquals(completion, both[0].completion);
  assertStringIncludes(again.choice.message.content!, "done: ");
  const denied = await assertRejects(
    () => ada.ask([result(first.call, { decision: "deny" })]),
    OpenAI.ConflictError,
  );
  assertEquals(denied.code, "approval_answered");
  const reused = await assertRejects(() => ada.ask([approve], { key: "k1" }), OpenAI.ConflictError);
  assertEquals(reused.code, "idempotency_key_reused");
  assertEquals([model.requests.length, await ada.written()], [2, "hi"]);
});

/** A model that reads two files outside the workspace at once. */
const reads = (paths: string[]) => ({ body: { messages } }: RecordedRequest) =>
  messages.at(-1).role === "tool"
    ? { text: messages.slice(-2).map(({ content }: Message) => content).join(" ") }
    : { calls: paths.map((path) => ({ tool: "read_file", args: { path } })) };

Deno.test("two actions that wait at once are asked about one after the other", async () => {
  const ada = person("parallel");
  const paths = [ada.file(0), ada.file(1)];
  for (const path of paths) await Deno.writeTextFile(path, `text of ${path}`);
  await using _model = shared.startModel(reads(paths));
  ada.messages.push({ role: "user", content: "read" });
  const first = await ada.ask();
  await until(async () => (await ada.waiting()).length === 2);
  ada.messages.push(first.choice.message);
  const second = await ada.ask([result(first.call, { decision: "approve" })]);
  assert(second.call.id !== first.call.id);
  const { choice } = await ada.ask([result(second.call, { decision: "approve" })]);
  for (const path of paths) assertStringIncludes(choice.message.content!, `text of ${path}`);

  // A denial holds for the other one too, which is no call then.
  ada.messages.push({ role: "user", content: "read again" });
  const asked = await ada.ask();
  await until(async () => (await ada.waiting()).length === 2);
  ada.messages.push(asked.choice.message);
  const denied = await ada.ask([result(asked.call, { decision: "deny" })]);
  assertEquals(denied.choice.finish_reason, "stop");
  assertEquals(denied.choice.message.content!.match(/a person denied it/g)?.length, 2);
});

Deno.test("answered elsewhere meanwhile: the same decision gets the rest of the turn", async () => {
  await using _model = shared.startModel(writes);
  const ada = person("both");
  const { call } = await ada.open();
  const { id, digest } = JSON.parse(call.function.arguments);
  await fetch(`${shared.service.apiUrl}/api/webui/approvals/${id}/approve`, {
    method: "POST",
    headers: { authorization: `Bearer ${tokens.approve}`, "content-type": "application/json" },
    body: JSON.stringify({ digest }),
  });
  const { choice } = await ada.ask([result(call, { decision: "approve" })]);
  assertStringIncludes(choice.message.content!, "done: ");
});
