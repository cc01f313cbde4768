import OpenAI from "openai";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startModelServer } from "./fakes/model_server.ts";
import { makeHome, type TestHome } from "./support/home.ts";

const user = (content: string) => ({ role: "user" as const, content });
const inSession = (session_id: string) => ({ session_id }) as object;

interface WireMessage {
  role: string;
  content?: string;
  tool_calls?: { id: string }[];
  tool_call_id?: string;
}

/** Calls without a result, and results without a call: what a provider refuses. */
function orphans(messages: WireMessage[]): string[] {
  const calls = messages.flatMap(({ tool_calls }) => tool_calls?.map(({ id }) => id) ?? []);
  const results = messages.flatMap(({ tool_call_id }) => tool_call_id ?? []);
  return [
    ...calls.filter((id) => !results.includes(id)),
    ...results.filter((id) => !calls.includes(id)),
  ];
}

async function turnsOf(home: TestHome, key: string): Promise<{ status: string }[]> {
  const { stdout } = await home.run(["sessions", "export", key]);
  return stdout.trim().split("\n").map((line) => JSON.parse(line))
    .filter(({ kind }) => kind === "turn").map(({ turn }) => turn);
}

Deno.test("kill -9 during a stream: what was said is kept, the turn is interrupted, the next goes on", async () => {
  await using model = startModelServer({
    script: [{ text: ["so ", "far ", "so good"], hang: 3 }, { text: "going on" }],
  });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
  });
  {
    await using service = await home.start();
    const client = new OpenAI({ baseURL: `${service.apiUrl}/v1`, apiKey: "-", maxRetries: 0 });
    const stream = await client.chat.completions.create({
      model: "local/fake",
      messages: [user("first")],
      stream: true,
      ...inSession("s"),
    });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
  }
  await using service = await home.start();
  const turns = await turnsOf(home, "api:s");
  assertEquals(turns.length, 1);
  assert(["interrupted", "cancelled"].includes(turns[0]!.status), turns[0]!.status);
  const client = new OpenAI({ baseURL: `${service.apiUrl}/v1`, apiKey: "-", maxRetries: 0 });
  const next = await client.chat.completions.create({
    model: "local/fake",
    messages: [user("second")],
    ...inSession("s"),
  });
  assertEquals(next.choices[0]!.message.content, "going on");
  assertEquals((await turnsOf(home, "api:s")).map(({ status }) => status)[1], "done");
});

Deno.test("kill -9 while a request waits for its first token: the turn is recorded as interrupted", async () => {
  await using model = startModelServer({ script: [{ hang: "headers" }, { text: "fine" }] });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
  });
  const service = await home.start();
  const asking = fetch(`${service.apiUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [user("first")], session_id: "s" }),
  }).then((response) => response.text(), () => "broken off");
  await (await model.request(0)).hanging;
  await service.kill();
  assertEquals(await asking, "broken off");
  await using again = await home.start();
  assertEquals((await turnsOf(home, "api:s")).map(({ status }) => status), ["interrupted"]);
  assertEquals((await fetch(`${again.apiUrl}/ready`)).status, 200);
});

Deno.test("W5 kill -9 during a tool call: later turns see an interrupted result and never an orphan", async () => {
  const fetched = Promise.withResolvers<void>();
  const released = new AbortController();
  const page = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async () => {
    fetched.resolve();
    await new Promise((resolve) => released.signal.addEventListener("abort", resolve));
    return new Response("late");
  });
  const url = `http://127.0.0.1:${page.addr.port}/`;
  await using model = startModelServer({
    script: [{ calls: [{ tool: "web_fetch", args: { url } }] }, { text: "clean" }],
  });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    gates: { privateHosts: ["127.0.0.1"] },
  });
  const service = await home.start();
  const asking = fetch(`${service.apiUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [user(`read ${url}`)], session_id: "s" }),
  }).then((response) => response.text(), () => "broken off");
  await Promise.race([fetched.promise, asking.then((text) => Promise.reject(new Error(text)))]);
  await service.kill();
  await asking;
  released.abort();

  await using again = await home.start();
  const response = await fetch(`${again.apiUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [user("and now?")], session_id: "s" }),
  });
  assertEquals(response.status, 200);
  assertEquals((await response.json()).choices[0].message.content, "clean");
  const sent: WireMessage[] = (await model.request(1)).body.messages;
  assertEquals(orphans(sent), []);
  const result = sent.find(({ role }) => role === "tool");
  assertStringIncludes(JSON.stringify(result), "interrupted");
  assertEquals((await turnsOf(home, "api:s")).map(({ status }) => status), ["interrupted", "done"]);
  await page.shutdown();
});

Deno.test("kill -9 of a service leaves no child behind", async () => {
  // A bare listener: it sees the end of the child's connection whatever was answered.
  using page = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${page.addr.port}/`;
  await using home = await makeHome({ gates: { privateHosts: ["127.0.0.1"] } });
  const service = await home.start();
  const asking = fetch(`${service.apiUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [user(`/tool web_fetch {"url":"${url}"}`)] }),
  }).then((response) => response.text(), () => "broken off");
  const connection = await Promise.race([
    page.accept(),
    asking.then((text) => Promise.reject(new Error(text))),
  ]);
  await service.kill();
  await asking;
  // The child ended with its parent, and its connection with it.
  while (await connection.read(new Uint8Array(4096)) !== null);
  connection.close();
});
