import { assert, assertEquals } from "@std/assert";
import { startModelServer } from "../../tests/fakes/model_server.ts";
import type { PromptMessage } from "../contract/messages.ts";
import type { ProviderType } from "./provider_spec.ts";
import { ask, registryFor, says, type WireName } from "./testing/ask.ts";
import { toPrompt } from "./to_prompt.ts";

const TYPES: ProviderType[] = ["openai-compatible", "openai", "anthropic"];

function prompt(type: ProviderType, messages: PromptMessage[], system = ""): unknown {
  return JSON.parse(JSON.stringify(toPrompt({ system, messages }, { type, model: "p/m" })));
}

/** What the fake was sent for these messages. */
async function sent(wire: WireName, messages: PromptMessage[]) {
  await using server = startModelServer();
  const { error } = await ask(registryFor(wire, server.baseUrl).default, { messages });
  assertEquals(error, undefined);
  return server.requests[0]!.body;
}

const CALLED: PromptMessage[] = [
  says("list them"),
  {
    role: "assistant",
    text: "Looking",
    reasoning: "they want files",
    calls: [{ callId: "call_1", tool: "list", args: { path: "." } }],
  },
  { role: "tool", results: [{ callId: "call_1", tool: "list", output: "a.md", failed: false }] },
];

Deno.test("toPrompt() gives a summary as a user message that says what it is", () => {
  assertEquals(
    prompt("openai", [{ role: "summary", text: "They met." }, says("and then?")], "Sys"),
    [
      { role: "system", content: "Sys" },
      {
        role: "user",
        content: [{
          type: "text",
          text: "This is a summary of the earlier conversation, which it replaces:\n\n" +
            "They met.\n\nand then?",
        }],
      },
    ],
  );
});

Deno.test("toPrompt() gives what was said from elsewhere so that roles alternate, a person first", () => {
  const said = (text: string): PromptMessage => ({ role: "assistant", text, calls: [] });
  for (const type of TYPES) {
    const roles = prompt(type, [said("One."), said("Two."), says("and?"), said("Three.")], "Sys");
    assertEquals(
      (roles as { role: string; content: string | { text: string }[] }[])
        .map((
          { role, content },
        ) => [role, typeof content === "string" ? content : content[0]!.text]),
      [
        ["system", "Sys"],
        ["user", "[Nobody has written here yet. What follows was sent to this chat by you.]"],
        ["assistant", "One.\n\nTwo."],
        ["user", "and?"],
        ["assistant", "Three."],
      ],
    );
  }
});

Deno.test("toPrompt() makes one message of neighbours and leaves out what is empty", () => {
  const messages: PromptMessage[] = [
    says("a"),
    { role: "assistant", text: "", reasoning: "cut off", calls: [] },
    { role: "user", parts: [{ type: "text", text: "" }] },
    { role: "user", parts: [{ type: "image", mediaType: "image/png", data: "iVBO" }] },
    says("b"),
  ];
  for (const type of ["openai-compatible", "openai"] as const) {
    assertEquals(prompt(type, messages), [{
      role: "user",
      content: [
        { type: "text", text: "a" },
        { type: "file", mediaType: "image/png", data: { type: "data", data: "iVBO" } },
        { type: "text", text: "b" },
      ],
    }]);
  }
});

Deno.test("toPrompt() gives arguments as an object, whatever the model had made", () => {
  for (
    const [args, expected] of [
      [{ a: 1 }, { a: 1 }],
      ["{broken", { invalid_arguments: "{broken" }],
      [[1], { invalid_arguments: [1] }],
      [null, { invalid_arguments: null }],
    ]
  ) {
    const message: PromptMessage = {
      role: "assistant",
      text: "",
      calls: [{ callId: "c", tool: "t", args }],
    };
    assertEquals(prompt("openai", [message]), [{
      role: "assistant",
      content: [{ type: "tool-call", toolCallId: "c", toolName: "t", input: expected }],
    }]);
  }
});

Deno.test("toPrompt() sends no lone surrogate", () => {
  const bad = "x\ud800y";
  const messages: PromptMessage[] = [
    says(bad),
    {
      role: "assistant",
      text: bad,
      reasoning: bad,
      calls: [{ callId: "c", tool: "t", args: { [bad]: [bad, { deep: bad }] } }],
    },
    { role: "tool", results: [{ callId: "c", tool: "t", output: bad, failed: true }] },
    { role: "summary", text: bad },
  ];
  for (const type of TYPES) {
    const text = JSON.stringify(toPrompt({ system: bad, messages }, { type, model: "p/m" }));
    assert(!/\\ud8/i.test(text), text);
    assert(text.includes("x\ufffdy"));
  }
});

Deno.test("toPrompt() renames ids that the provider would refuse, call and result alike", () => {
  const messages: PromptMessage[] = [
    {
      role: "assistant",
      text: "",
      calls: [
        { callId: "functions.list:0", tool: "list", args: {} },
        { callId: "ok_1", tool: "list", args: {} },
      ],
    },
    {
      role: "tool",
      results: [
        { callId: "functions.list:0", tool: "list", output: "a", failed: false },
        { callId: "ok_1", tool: "list", output: "b", failed: false },
      ],
    },
  ];
  const ids = (type: ProviderType) =>
    [...JSON.stringify(prompt(type, messages)).matchAll(/"toolCallId":"([^"]+)"/g)].map((m) =>
      m[1]
    );
  const renamed = ["renamed_call_1", "ok_1", "renamed_call_1", "ok_1"];
  assertEquals(ids("anthropic"), renamed);
  assertEquals(ids("openai"), renamed);
  assertEquals(ids("openai-compatible")[0], "functions.list:0");
});

Deno.test("toPrompt() gives reasoning back within the turn, and only behind chat completions", () => {
  const reasoningIn = (type: ProviderType, messages: PromptMessage[]) =>
    JSON.stringify(prompt(type, messages)).includes("they want files");
  assert(reasoningIn("openai-compatible", CALLED));
  assert(!reasoningIn("openai-compatible", [...CALLED, says("thanks")]));
  assert(!reasoningIn("openai", CALLED));
  assert(!reasoningIn("anthropic", CALLED));
});

Deno.test("toPrompt() begins with the same bytes when the conversation has grown", () => {
  const replay = {
    model: "p/m",
    reasoning: [{ text: "why", data: { anthropic: { signature: "s" } } }],
  };
  const first: PromptMessage[] = [{ role: "summary", text: "s" }, says("a"), {
    role: "assistant",
    text: "b",
    calls: [{ callId: "x.1", tool: "t", args: {} }],
    replay,
  }, { role: "tool", results: [{ callId: "x.1", tool: "t", output: "o", failed: false }] }];
  const plain = (messages: PromptMessage[]) =>
    toPrompt({ system: "s", messages }, { type: "openai", model: "p/m" }).map((m) =>
      JSON.stringify(m)
    );
  const short = plain(first);
  const long = plain([...first, { role: "assistant", text: "done", calls: [] }, says("more")]);
  assertEquals(long.slice(0, short.length), short);
});

Deno.test("stream() sends calls and results on the chat completions wire", async () => {
  const body = await sent("openai-compatible", CALLED);
  assertEquals(body.messages, [
    { role: "system", content: "Be brief." },
    { role: "user", content: "list them" },
    {
      role: "assistant",
      content: "Looking",
      reasoning_content: "they want files",
      tool_calls: [{
        id: "call_1",
        type: "function",
        function: { name: "list", arguments: '{"path":"."}' },
      }],
    },
    { role: "tool", tool_call_id: "call_1", content: "a.md" },
  ]);
});

Deno.test("stream() sends an image on each wire", async () => {
  const messages: PromptMessage[] = [{
    role: "user",
    parts: [
      { type: "text", text: "what is it?" },
      { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" },
    ],
  }];
  const chat = await sent("openai-compatible", messages);
  assertEquals(chat.messages[1].content[1], {
    type: "image_url",
    image_url: { url: "data:image/png;base64,iVBORw0KGgo=" },
  });
  const anthropic = await sent("anthropic", messages);
  assertEquals(anthropic.messages[0].content[1].source, {
    type: "base64",
    media_type: "image/png",
    data: "iVBORw0KGgo=",
  });
  const responses = await sent("openai responses", messages);
  assertEquals(responses.input[1].content[1].image_url, "data:image/png;base64,iVBORw0KGgo=");
});

Deno.test("stream() marks what Anthropic is to cache", async () => {
  const cached = { type: "ephemeral" };
  const { system, messages } = await sent("anthropic", CALLED);
  assertEquals(system, [{ type: "text", text: "Be brief.", cache_control: cached }]);
  assertEquals(messages[0].content[0].cache_control, cached);
  assertEquals(messages[1].content.map((part: { type: string }) => part.type), [
    "text",
    "tool_use",
  ]);
  assertEquals(messages[2].content, [{
    type: "tool_result",
    tool_use_id: "call_1",
    content: "a.md",
    cache_control: cached,
  }]);
  assertEquals(JSON.stringify({ system, messages }).match(/cache_control/g)?.length, 3);
});

Deno.test("stream() gives a provider back what it wants back, and only to that model", async () => {
  const expected: [WireName, (body: unknown) => void][] = [
    ["anthropic", (body) => {
      const [thinking, call] =
        (body as { messages: { content: unknown[] }[] }).messages[1]!.content;
      assertEquals(thinking, { type: "thinking", thinking: "hm", signature: "sig==" });
      assertEquals((call as { type: string }).type, "tool_use");
    }],
    ["openai responses", (body) => {
      const items = (body as { input: Record<string, unknown>[] }).input;
      assertEquals(items.find(({ type }) => type === "reasoning"), {
        type: "reasoning",
        id: "rs_fake",
        encrypted_content: "sig==",
        summary: [{ type: "summary_text", text: "hm" }],
      });
      assertEquals((body as { include: string[] }).include, ["reasoning.encrypted_content"]);
    }],
  ];
  for (const [wire, check] of expected) {
    await using server = startModelServer({
      script: [
        { reasoning: ["hm"], signature: "sig==", calls: [{ tool: "list", args: {} }] },
        { text: "done" },
      ],
    });
    const agent = { model: wire === "anthropic" ? "fake/claude-sonnet-5-5" : "fake/gpt-5" };
    const registry = registryFor(wire, server.baseUrl, { agent });
    const first = await ask(registry.default, { messages: [says("go")] });
    const messages: PromptMessage[] = [
      says("go"),
      {
        role: "assistant",
        text: first.text,
        reasoning: first.reasoning,
        calls: first.calls,
        // It has to survive the journal.
        replay: JSON.parse(JSON.stringify(first.finish!.replay)),
      },
      { role: "tool", results: [{ callId: "call_1", tool: "list", output: "a", failed: false }] },
    ];
    await ask(registry.default, { messages });
    check(server.requests[1]!.body);
    await ask(registry.pick("fake/another"), { messages });
    assert(!JSON.stringify(server.requests[2]!.body).includes("sig=="));
  }
});

Deno.test("stream() gives signatures of calls back on the chat completions wire", async () => {
  const bodies: { messages: unknown[] }[] = [];
  const chunk = (delta: unknown, finish: string | null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const signature = { google: { thought_signature: "sig==" } };
  const stream = chunk({
    tool_calls: [{
      index: 0,
      id: "c1",
      type: "function",
      function: { name: "list", arguments: "{}" },
      extra_content: signature,
    }],
  }, "tool_calls");
  const registry = registryFor("openai-compatible", "http://fake.example/v1", {
    fetch: (_input, init) => {
      bodies.push(JSON.parse(String(init?.body)));
      return Promise.resolve(new Response(stream));
    },
  });
  const { calls, finish } = await ask(registry.default);
  assertEquals(calls, [{ callId: "c1", tool: "list", args: {} }]);
  await ask(registry.default, {
    messages: [
      says("hi"),
      { role: "assistant", text: "", calls, replay: finish!.replay },
      { role: "tool", results: [{ callId: "c1", tool: "list", output: "a", failed: false }] },
    ],
  });
  const sentBack = bodies[1]!.messages[2] as { tool_calls: unknown[] };
  assertEquals(sentBack.tool_calls, [{
    id: "c1",
    type: "function",
    function: { name: "list", arguments: "{}" },
    extra_content: signature,
  }]);
});
