import { AIMessage, type BaseMessage, HumanMessage, SystemMessage } from "@langchain/core/messages";
import { ChatOpenAI, type ChatOpenAIFields } from "@langchain/openai";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { conversation } from "../support/conversation.ts";
import { dataUrl, PNG } from "../support/documents.ts";
import { makeHome, type Running } from "../support/home.ts";
import { shareService } from "../support/shared_service.ts";

const KEY = "a-key-of-some-length";

/** Both wire shapes; a deployment's clients pick one by a flag. */
const SHAPES: Record<string, ChatOpenAIFields> = {
  chat: {},
  responses: { useResponsesApi: true },
};

const configFor = (baseUrl: string, apiKey = KEY) => ({
  agent: { model: "local/fake" },
  providers: { local: { baseUrl } },
  api: { apiKey },
});

function clientOf({ apiUrl }: Running, fields: ChatOpenAIFields, apiKey = KEY): ChatOpenAI {
  return new ChatOpenAI({
    model: "local/fake",
    apiKey,
    maxRetries: 0,
    configuration: { baseURL: `${apiUrl}/v1` },
    ...fields,
  });
}

const shared = shareService((baseUrl) => configFor(baseUrl));

for (const [shape, fields] of Object.entries(SHAPES)) {
  for (const apiKey of ["", KEY]) {
    Deno.test(`langchain over ${shape}, ${apiKey ? "a key" : "no key"}: invoke, stream, and turns that go on`, async () => {
      await using server = startModelServer({
        script: [
          { text: "Hello there", usage: { input: 7, output: 2 } },
          { text: ["Still ", "here"] },
          { text: "Of course" },
        ],
      });
      await using home = await makeHome(configFor(server.baseUrl, apiKey));
      await using service = await home.start();
      const client = clientOf(service, fields);
      const history: BaseMessage[] = [
        new SystemMessage("Be brief"),
        new HumanMessage("My name is Ada"),
      ];

      const first = await client.invoke(history);
      assertEquals(first.text, "Hello there");
      assertEquals(first.usage_metadata!.input_tokens, 7);
      assertEquals(first.usage_metadata!.output_tokens, 2);

      history.push(first, new HumanMessage("Who am I?"));
      let text = "";
      for await (const chunk of await client.stream(history)) text += chunk.text;
      assertEquals(text, "Still here");

      history.push(new AIMessage(text), new HumanMessage("Again?"));
      assertEquals((await client.invoke(history)).text, "Of course");
      assertEquals(conversation(await server.request(2)), [
        ["user", "Be brief\n\nMy name is Ada"],
        ["assistant", "Hello there"],
        ["user", "Who am I?"],
        ["assistant", "Still here"],
        ["user", "Again?"],
      ]);
    });
  }

  Deno.test(`langchain over ${shape}: an image part reaches the model`, async () => {
    await using server = shared.startModel({ text: "seen" });
    const answer = await clientOf(shared.service, fields).invoke([
      new HumanMessage({
        content: [
          { type: "text", text: "What is this?" },
          { type: "image_url", image_url: { url: dataUrl(PNG) } },
        ],
      }),
    ]);
    assertEquals(answer.text, "seen");
    const sent = JSON.stringify((await server.request(0)).body.messages.at(-1));
    assertStringIncludes(sent, dataUrl(PNG));
    assertStringIncludes(sent, "What is this?");
  });

  Deno.test(`langchain over ${shape}: an abort reaches the model, and a wrong key and a failure are errors`, async () => {
    await using server = shared.startModel([
      { text: ["one ", "two"], hang: 2 },
      { status: 400, error: "no such thing" },
    ]);
    const leaving = new AbortController();
    const stream = await clientOf(shared.service, fields).stream("hi", { signal: leaving.signal });
    await assertRejects(async () => {
      for await (const chunk of stream) if (chunk.text !== "") leaving.abort();
    });
    const request = await server.request(0);
    await request.closed;
    assertEquals(request.aborted, true);

    const wrong = await assertRejects(
      () => clientOf(shared.service, fields, "wrong").invoke("hi"),
      Error,
    );
    assertStringIncludes(wrong.message, "API key");
    const failed = await assertRejects(() => clientOf(shared.service, fields).invoke("hi"), Error);
    assertStringIncludes(failed.message, "local/fake");
    assert(server.requests.length === 2, "the failed turn was asked for once");
  });
}
