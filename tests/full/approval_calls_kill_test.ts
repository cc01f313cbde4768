import OpenAI from "openai";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome, type Running } from "../support/home.ts";

const TOOLS = [{ type: "function" as const, function: { name: "service_approval" } }];

Deno.test("kill -9 while a client asks its person: nothing runs, its answer is told so, the conversation goes on", async () => {
  await using model = startModelServer({
    script: ({ body }) =>
      body.messages.at(-1).content === "write"
        ? { calls: [{ tool: "write_file", args: { path: `${home.dir}/a.txt`, content: "hi" } }] }
        : { text: "going on" },
  });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
  });
  const token = (await home.run(["tokens", "issue", "--scopes", "approve"])).stdout.trim();
  const ask = async (
    service: Running,
    messages: OpenAI.ChatCompletionMessageParam[],
    key?: string,
  ) => {
    const client = new OpenAI({ baseURL: `${service.apiUrl}/v1`, apiKey: token });
    const { choices } = await client.chat.completions.create(
      { model: "local/fake", messages, tools: TOOLS },
      { headers: key === undefined ? {} : { "idempotency-key": key } },
    );
    return choices[0]!.message;
  };
  const user = { role: "user" as const, content: "write" };
  let asked: OpenAI.ChatCompletionMessage;
  {
    await using service = await home.start();
    asked = await ask(service, [user], "k");
    await service.kill();
  }
  const [call] = asked.tool_calls!;
  const result = {
    role: "tool" as const,
    tool_call_id: call!.id,
    content: '{"decision":"approve"}',
  };
  await using service = await home.start();
  for (let times = 0; times < 2; times++) {
    const late = await assertRejects(() => ask(service, [user, asked, result]), OpenAI.APIError);
    assertEquals([late.status, late.code], [409, "approval_stopped"]);
  }
  // The request that was asked about is known again, with how its turn ended.
  const again = await assertRejects(() => ask(service, [user], "k"), OpenAI.APIError);
  assertEquals(again.code, "turn_interrupted");
  assertEquals(await Deno.stat(`${home.dir}/a.txt`).catch(() => "none"), "none");
  const next = await ask(service, [user, asked, result, asked, { role: "user", content: "on" }]);
  assertStringIncludes(next.content!, "going on");
  assertEquals(model.requests.length, 2);
});
