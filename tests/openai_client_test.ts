import OpenAI from "openai";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { startModelServer } from "./fakes/model_server.ts";
import { makeHome } from "./support/home.ts";

/** Configuration with one model server as provider. */
function configFor(baseUrl: string, more: Record<string, unknown> = {}) {
  return { agent: { model: "local/fake" }, providers: { local: { baseUrl } }, ...more };
}

const user = (content: string) => ({ role: "user" as const, content });

/** `session_id` is a field of this API's own. */
const inSession = (session_id: string) => ({ session_id }) as object;

Deno.test("the openai package gets answers, streamed and not, and the service keeps the conversation", async () => {
  // So much that the journal's database keeps apart what it might have to undo.
  const long = Array.from({ length: 2_000 }, (_, n) => `${n}-${crypto.randomUUID()} `.repeat(50));
  await using model = startModelServer({
    script: [{ text: "Hello there" }, { text: "Still here" }, { text: long }],
  });
  await using home = await makeHome(configFor(model.baseUrl));
  await using service = await home.start();
  const client = new OpenAI({ baseURL: `${service.apiUrl}/v1`, apiKey: "unused" });

  const models = await client.models.list();
  assertEquals(models.data.map(({ id }) => id), ["local/fake"]);

  const first = await client.chat.completions.create({
    model: "local/fake",
    messages: [user("My name is Ada")],
    ...inSession("a"),
  });
  assertEquals(first.choices[0]!.message.content, "Hello there");
  assertEquals(first.choices[0]!.finish_reason, "stop");
  assertMatch(first.id, /^chatcmpl-/);
  assert(first.usage!.prompt_tokens > 0);

  const stream = await client.chat.completions.create({
    model: "local/fake",
    messages: [user("Who am I?")],
    stream: true,
    stream_options: { include_usage: true },
    ...inSession("a"),
  });
  let text = "";
  let usage = 0;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? "";
    usage += chunk.usage?.completion_tokens ?? 0;
  }
  assertEquals(text, "Still here");
  assert(usage > 0);

  const sent = (await model.request(1)).body.messages as { role: string; content: unknown }[];
  assertEquals(sent.filter(({ role }) => role !== "system").map(({ role }) => role), [
    "user",
    "assistant",
    "user",
  ]);
  assertEquals(JSON.stringify(sent).includes("My name is Ada"), true);

  const much = await client.chat.completions.create({
    model: "local/fake",
    messages: [user("Tell me all of it")],
    ...inSession("b"),
  });
  assertEquals(much.choices[0]!.message.content, long.join(""));
  assertEquals(await service.stop(), 0);
});

Deno.test("W6 the openai package sees each failure as what it is, and asks once", async () => {
  await using model = startModelServer({
    script: ({ body }) => {
      const text: string = JSON.stringify(body.messages.at(-1));
      if (text.includes("rate")) return { status: 429, retryAfter: "120", error: "slow down" };
      if (text.includes("broken")) return { status: 400, error: "no such thing" };
      if (text.includes("cut")) return { text: "one two three four", resetAfter: 3 };
      return { text: "fine" };
    },
  });
  await using home = await makeHome(configFor(model.baseUrl));
  await using service = await home.start();
  const client = new OpenAI({ baseURL: `${service.apiUrl}/v1`, apiKey: "unused" });
  const ask = (content: string) =>
    client.chat.completions.create({ model: "local/fake", messages: [user(content)] });

  const limited = await assertRejects(() => ask("rate"), OpenAI.RateLimitError);
  assertEquals(limited.code, "provider_rate_limited");
  const broken = await assertRejects(() => ask("broken"), OpenAI.InternalServerError);
  assertEquals([broken.status, broken.code], [502, "provider_error"]);
  const unknown = await assertRejects(
    () => client.chat.completions.create({ model: "gpt-9", messages: [user("hi")] }),
    OpenAI.NotFoundError,
  );
  assertEquals([unknown.code, unknown.param], ["model_not_found", "model"]);
  await assertRejects(
    () => client.chat.completions.create({ model: "local/fake", messages: [] }),
    OpenAI.BadRequestError,
  );
  const turns = model.requests.length;
  assertEquals(turns, 2, "no failed turn was asked for again by the client");

  const stream = await client.chat.completions.create({
    model: "local/fake",
    messages: [user("cut")],
    stream: true,
  });
  const finished: unknown[] = [];
  await assertRejects(async () => {
    for await (const chunk of stream) finished.push(chunk.choices[0]?.finish_reason);
  }, OpenAI.APIError);
  assertEquals(finished.includes("stop"), false);
  assertEquals((await ask("again")).choices[0]!.message.content, "fine", "the lane is free");
});

Deno.test("an aborted stream of the openai package closes the connection to the model", async () => {
  await using model = startModelServer({ script: { text: "one two three", hang: 3 } });
  await using home = await makeHome(configFor(model.baseUrl));
  await using service = await home.start();
  const client = new OpenAI({ baseURL: `${service.apiUrl}/v1`, apiKey: "unused" });
  const stream = await client.chat.completions.create({
    model: "local/fake",
    messages: [user("hi")],
    stream: true,
  });
  for await (const chunk of stream) {
    if (chunk.choices[0]?.delta.content) break;
  }
  const request = await model.request(0);
  await request.closed;
  assertEquals(request.aborted, true);
});

Deno.test("two sessions run in parallel, and two turns of one session in order", async () => {
  const holds = new Map<string, PromiseWithResolvers<void>>();
  for (const name of ["a1", "b1"]) holds.set(name, Promise.withResolvers());
  const order: string[] = [];
  const arrived = new Map<string, PromiseWithResolvers<void>>();
  for (const name of ["a1", "a2", "b1"]) arrived.set(name, Promise.withResolvers());
  await using model = startModelServer({
    script: async ({ body }) => {
      const text: string = JSON.stringify(body.messages.at(-1));
      const name = text.match(/turn (\w\d)/)![1]!;
      order.push(name);
      arrived.get(name)!.resolve();
      await holds.get(name)?.promise;
      return { text: `answer ${name}` };
    },
  });
  await using home = await makeHome(configFor(model.baseUrl));
  await using service = await home.start();
  const client = new OpenAI({ baseURL: `${service.apiUrl}/v1`, apiKey: "unused" });
  const ask = async (session: string, content: string) => {
    const answer = await client.chat.completions.create({
      model: "local/fake",
      messages: [user(content)],
      ...inSession(session),
    });
    return answer.choices[0]!.message.content;
  };
  const a1 = ask("a", "turn a1");
  await arrived.get("a1")!.promise;
  const a2 = ask("a", "turn a2");
  const b1 = ask("b", "turn b1");
  await arrived.get("b1")!.promise; // while a1 still runs: sessions are parallel
  assertEquals(order, ["a1", "b1"], "a2 waits for a1");
  holds.get("b1")!.resolve();
  assertEquals(await b1, "answer b1");
  holds.get("a1")!.resolve();
  assertEquals(await a1, "answer a1");
  assertEquals(await a2, "answer a2");
  assertEquals(order, ["a1", "b1", "a2"]);
});
