import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateText, type LanguageModel, type ModelMessage, streamText } from "ai";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { conversation } from "../support/conversation.ts";
import { dataUrl, makePdf, PNG } from "../support/documents.ts";
import { makeHome, type Running } from "../support/home.ts";
import { shareService } from "../support/shared_service.ts";

const KEY = "a-key-of-some-length";

/** Each way in which the `ai` package can be made to speak to the service. */
const PROVIDERS: Record<string, (service: Running, apiKey?: string) => LanguageModel> = {
  "@ai-sdk/openai-compatible": ({ apiUrl }, apiKey = KEY) =>
    createOpenAICompatible({
      name: "service",
      baseURL: `${apiUrl}/v1`,
      apiKey,
      includeUsage: true,
    })(
      "local/fake",
    ),
  "@ai-sdk/openai chat": ({ apiUrl }, apiKey = KEY) =>
    createOpenAI({ baseURL: `${apiUrl}/v1`, apiKey }).chat("local/fake"),
  "@ai-sdk/openai responses": ({ apiUrl }, apiKey = KEY) =>
    createOpenAI({ baseURL: `${apiUrl}/v1`, apiKey }).responses("local/fake"),
};

const configFor = (baseUrl: string, apiKey: string) => ({
  agent: { model: "local/fake" },
  providers: { local: { baseUrl } },
  api: { apiKey },
});

const shared = shareService((baseUrl) => configFor(baseUrl, KEY));

for (const [name, modelOf] of Object.entries(PROVIDERS)) {
  for (const apiKey of ["", KEY]) {
    Deno.test(`ai with ${name}, ${apiKey ? "a key" : "no key"}: an answer, a stream, and turns that go on`, async () => {
      await using server = startModelServer({
        script: [
          { text: "Hello there", usage: { input: 7, output: 2 } },
          { reasoning: "hm", text: ["Still ", "here"] },
          { text: "Of course" },
        ],
      });
      await using home = await makeHome(configFor(server.baseUrl, apiKey));
      await using service = await home.start();
      const model = modelOf(service);
      const history: ModelMessage[] = [{ role: "user", content: "My name is Ada" }];

      const first = await generateText({ model, messages: history });
      assertEquals([first.text, first.finishReason], ["Hello there", "stop"]);
      assertEquals([first.usage.inputTokens, first.usage.outputTokens], [7, 2]);
      history.push(...first.response.messages, { role: "user", content: "Who am I?" });

      const second = streamText({ model, messages: history });
      const deltas: string[] = [];
      for await (const delta of second.textStream) deltas.push(delta);
      assertEquals(deltas.join(""), "Still here");
      assertEquals(await second.finishReason, "stop");
      // This one package does not look for reasoning on the chat wire.
      const reasoning = name === "@ai-sdk/openai chat" ? undefined : "hm";
      assertEquals(await second.reasoningText, reasoning);
      history.push(...(await second.response).messages, { role: "user", content: "Again?" });

      const third = await generateText({ model, messages: history });
      assertEquals(third.text, "Of course");
      // The service keeps the conversation, so the client's copy of it adds nothing.
      assertEquals(conversation(await server.request(2)), [
        ["user", "My name is Ada"],
        ["assistant", "Hello there"],
        ["user", "Who am I?"],
        ["assistant", "Still here"],
        ["user", "Again?"],
      ]);
    });
  }

  Deno.test(`ai with ${name}: an image and a file reach the model`, async () => {
    await using server = shared.startModel({ text: "seen" });
    const pdf = await makePdf("The secret word is xylophone");
    const { text } = await generateText({
      model: modelOf(shared.service),
      messages: [{
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "file", data: PNG.bytes, mediaType: PNG.mediaType },
          { type: "file", data: pdf.bytes, mediaType: pdf.mediaType, filename: pdf.name },
        ],
      }],
    });
    assertEquals(text, "seen");
    const sent = JSON.stringify((await server.request(0)).body.messages.at(-1));
    assertStringIncludes(sent, dataUrl(PNG));
    assertStringIncludes(sent, "The secret word is xylophone");
  });

  Deno.test(`ai with ${name}: an abort reaches the model`, async () => {
    await using server = shared.startModel({ text: ["one ", "two"], hang: 2 });
    const leaving = new AbortController();
    const { textStream } = streamText({
      model: modelOf(shared.service),
      prompt: "hi",
      abortSignal: leaving.signal,
      onError() {},
    });
    for await (const delta of textStream) {
      if (delta !== "") break;
    }
    leaving.abort();
    const request = await server.request(0);
    await request.closed;
    assertEquals(request.aborted, true);
  });

  Deno.test(`ai with ${name}: a refusal and a failure are errors with the service's words, asked once`, async () => {
    await using server = shared.startModel({ status: 400, error: "no such thing" });
    const wrong = await assertRejects(
      () => generateText({ model: modelOf(shared.service, "wrong"), prompt: "hi", maxRetries: 0 }),
      APICallError,
    );
    assertEquals(wrong.statusCode, 401);
    assertStringIncludes(wrong.message, "API key");
    const failed = await assertRejects(
      () => generateText({ model: modelOf(shared.service), prompt: "hi", maxRetries: 0 }),
      APICallError,
    );
    assertEquals(failed.statusCode, 502);
    assertStringIncludes(failed.message, "local/fake");
    assertEquals(server.requests.length, 1);
  });

  Deno.test(`W6 ai with ${name}: a stream that fails in the middle is an error`, async () => {
    await using server = shared.startModel({ text: "one two three four", resetAfter: 3 });
    const errors: unknown[] = [];
    const { textStream, finishReason } = streamText({
      model: modelOf(shared.service),
      prompt: "hi",
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    });
    for await (const _ of textStream);
    const reason = await Promise.resolve(finishReason).catch(() => "error");
    assert(errors.length > 0, "the failure was told");
    assertEquals(server.requests.length, 1);
    assert(reason !== "stop", reason);
  });
}

Deno.test("ai with @ai-sdk/openai goes on from a response by its id", async () => {
  await using server = startModelServer({ script: [{ text: "one" }, { text: "two" }] });
  await using home = await makeHome(configFor(server.baseUrl, KEY));
  await using service = await home.start();
  const openai = createOpenAI({
    baseURL: `${service.apiUrl}/v1`,
    apiKey: KEY,
    headers: { "x-session-id": "elsewhere" },
  });
  const first = await generateText({ model: openai.responses("local/fake"), prompt: "first" });
  const previousResponseId = first.providerMetadata!.openai!.responseId as string;
  const plain = PROVIDERS["@ai-sdk/openai responses"]!(service);
  const second = await generateText({
    model: plain,
    prompt: "second",
    providerOptions: { openai: { previousResponseId } },
  });
  assertEquals(second.text, "two");
  assertEquals(conversation(await server.request(1)), [
    ["user", "first"],
    ["assistant", "one"],
    ["user", "second"],
  ]);
  const { stdout } = await home.run(["sessions", "list", "--json"]);
  assertStringIncludes(stdout, "api:elsewhere");
  assertEquals(stdout.includes("api:default"), false);
});
