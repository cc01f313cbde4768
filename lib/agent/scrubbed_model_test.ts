import { assert, assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import type { Model, ModelEvent, ModelRequest } from "../model/port.ts";
import { fingerprintsOf } from "../secrets/fingerprints_of.ts";
import { createScrubber } from "../secrets/scrubber.ts";
import { NO_USAGE } from "../contract/events.ts";
import { scrubbedModel } from "./scrubbed_model.ts";
import { eventsOf, only, testAgent, textOf } from "./testing/test_agent.ts";

const KEY = "sk-live-0123456789abcdef";
const scrubber = createScrubber(fingerprintsOf({ name: "KEY", value: KEY }));
const FINISH: ModelEvent = { type: "finish", model: "m/1", reason: "stop", usage: NO_USAGE };

function modelOf(say: (request: ModelRequest) => Iterable<ModelEvent>): Model {
  return {
    name: "m/1",
    contextTokens: 100_000,
    async *stream(request) {
      for (const event of say(request)) yield [event];
    },
  };
}

const asked: Omit<ModelRequest, "signal"> = { system: "", messages: [], tools: [] };

async function said(events: Iterable<ModelEvent>): Promise<ModelEvent[]> {
  const model = scrubbedModel(modelOf(() => events), scrubber);
  const answer = model.stream({ ...asked, signal: AbortSignal.any([]) });
  return (await Array.fromAsync(answer)).flat();
}

const texts = (events: readonly ModelEvent[], type: "text" | "reasoning") =>
  events.map((event) => event.type === type ? event.text : "").join("");

Deno.test("scrubbedModel() takes a secret out of text and reasoning that come one character at a time", async () => {
  const pieces = (type: "text" | "reasoning", text: string) =>
    [...text].map((text): ModelEvent => ({ type, text }));
  const events = await said([
    ...pieces("reasoning", `it is ${KEY}, sk-`),
    ...pieces("text", `Your key: ${KEY}. sk-l`),
    FINISH,
  ]);
  assertEquals(texts(events, "reasoning"), "it is [secret KEY], sk-");
  assertEquals(texts(events, "text"), "Your key: [secret KEY]. sk-l");
  // What is said of reasoning is said before the text.
  const lastReasoning = events.findLastIndex(({ type }) => type === "reasoning");
  assert(lastReasoning < events.findIndex(({ type }) => type === "text"));
  assertEquals(events.at(-1), FINISH);
});

Deno.test("scrubbedModel() says no secret whose halves stand in two stretches of reasoning", async () => {
  const events = await said([
    { type: "reasoning", text: KEY.slice(0, 10) },
    { type: "text", text: "x" },
    { type: "reasoning", text: `${KEY.slice(10)} end` },
    FINISH,
  ]);
  assertEquals(texts(events, "reasoning"), `${KEY.slice(0, 10)}[secret KEY] end`);
});

Deno.test("scrubbedModel() takes secrets out of arguments, notices, errors and what is given back", async () => {
  const url = `https://h/?k=${encodeURIComponent(KEY)}`;
  const call = {
    callId: "c",
    tool: "t",
    args: { url, deep: [{ [KEY]: JSON.stringify({ KEY }) }] },
  };
  const events = await said([
    { type: "notice", text: `retry with ${KEY}` },
    { type: "call", call },
    { ...FINISH, replay: { reasoning: [{ text: KEY }] } },
  ]);
  assertEquals(events, [
    { type: "notice", text: "retry with [secret KEY]" },
    {
      type: "call",
      call: {
        callId: "c",
        tool: "t",
        args: {
          url: "https://h/?k=[secret KEY]",
          deep: [{ "[secret KEY]": '{"KEY":"[secret KEY]"}' }],
        },
      },
    },
    FINISH,
  ]);
  const failing = scrubbedModel(
    modelOf(function* () {
      yield { type: "text", text: "so far sk-" };
      throw new ServiceError("provider_error", `401: ${KEY} is wrong`, { providerStatus: 401 });
    }),
    scrubber,
  );
  let text = "";
  const error = await assertRejects(async () => {
    for await (const events of failing.stream({ ...asked, signal: AbortSignal.any([]) })) {
      for (const event of events) if (event.type === "text") text += event.text;
    }
  }, ServiceError);
  assertEquals(text, "so far sk-");
  assertEquals(error.message, "401: [secret KEY] is wrong");
  assertEquals(error.details, { providerStatus: 401 });
});

Deno.test("scrubbedModel() sends no secret of a history that is older than it", async () => {
  let got: ModelRequest | undefined;
  const replay = { signed: KEY };
  const image = { type: "image" as const, mediaType: "image/png", data: "AAAA" };
  const model = scrubbedModel(
    modelOf((request) => {
      got = request;
      return [FINISH];
    }),
    scrubber,
  );
  await Array.fromAsync(model.stream({
    system: `the key is ${KEY}`,
    messages: [
      { role: "user", parts: [{ type: "text", text: KEY }, image] },
      { role: "assistant", text: KEY, calls: [{ callId: "c", tool: "t", args: [KEY] }], replay },
      { role: "tool", results: [{ callId: "c", tool: "t", output: KEY, failed: false }] },
      { role: "summary", text: KEY },
    ],
    tools: [],
    signal: AbortSignal.any([]),
  }));
  const [user, assistant, ...rest] = got!.messages;
  assertEquals(got!.system, "the key is [secret KEY]");
  assertEquals(user, { role: "user", parts: [{ type: "text", text: "[secret KEY]" }, image] });
  // It is signed: changed, the provider would not take it.
  assert(assistant?.role === "assistant" && assistant.replay === replay);
  assertEquals([assistant.text, assistant.calls[0]!.args], ["[secret KEY]", ["[secret KEY]"]]);
  assert(!JSON.stringify(rest).includes(KEY));
});

Deno.test("AgentTurns puts no secret on record, and the deltas are the answer", async () => {
  const model = modelOf(function* ({ messages }) {
    const asked = JSON.stringify(messages);
    assert(!asked.includes(KEY), asked);
    for (const text of `said ${KEY}!`.match(/.{1,3}/g)!) yield { type: "text", text };
    yield FINISH;
  });
  await using agent = testAgent({ model: scrubbedModel(model, scrubber), scrubber });
  const { turns } = agent;
  const handle = await turns.submit({
    sessionKey: "test:one",
    channel: "test",
    actor: "test:person",
    input: [
      { type: "text", text: `keep ${KEY}` },
      {
        type: "document",
        name: `${KEY}.txt`,
        mediaType: "text/plain",
        text: `KEY=${KEY}\n`,
        bytes: new TextEncoder().encode("x"),
      },
    ],
    durable: false,
    attended: true,
    response: { credential: "c", request: { metadata: { key: KEY } } },
  });
  const events = await eventsOf(handle);
  assertEquals(textOf(events), "said [secret KEY]!");
  assertEquals(only(events, "turn_end")[0]!.status, "done");
  const session = agent.journal.session("test:one")!;
  const history = agent.journal.history(session.id, 0, 100);
  assert(!JSON.stringify(history).includes(KEY));
  const answer = history.map(({ message }) => message).find(({ role }) => role === "assistant");
  assertEquals(answer?.role === "assistant" && answer.text, textOf(events));
  assert(!JSON.stringify([handle.turn, session]).includes(KEY));
  const aside = turns.aside({ input: [{ type: "text", text: KEY }] });
  const asides = [];
  for await (const { event } of aside.events()) asides.push(event);
  assertEquals(textOf(asides), "said [secret KEY]!");
  await assertRejects(
    () => turns.submit({ ...request(), sessionKey: `bad key ${KEY}` }),
    ServiceError,
    "[secret KEY]",
  );
});

const request = () => ({
  channel: "test",
  actor: "test:person",
  input: [{ type: "text" as const, text: "hi" }],
  durable: false,
  attended: true,
});
