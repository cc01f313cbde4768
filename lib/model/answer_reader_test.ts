import { assertEquals, assertStringIncludes } from "@std/assert";
import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { ModelEvent } from "./port.ts";
import { readProvider } from "./provider_spec.ts";
import { AnswerReader } from "./answer_reader.ts";

const NOTHING = {
  inputTokens: {
    total: undefined,
    noCache: undefined,
    cacheRead: undefined,
    cacheWrite: undefined,
  },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

function finish(
  unified: LanguageModelV4FinishReason["unified"],
  raw?: string,
): LanguageModelV4StreamPart {
  return { type: "finish", finishReason: { unified, raw }, usage: NOTHING };
}

function read(parts: LanguageModelV4StreamPart[]) {
  const events: ModelEvent[] = [];
  const origin = {
    spec: readProvider("p", { baseUrl: "http://h", apiKey: "", headers: {}, model: "" }),
    model: "p/m",
    now: () => 0,
  };
  try {
    const reader = new AnswerReader({ origin, thinkTags: true, idTaken: () => false });
    for (const part of parts) events.push(...reader.read(part));
  } catch (error) {
    return { events, error: (error as Error).message };
  }
  return { events };
}

Deno.test("AnswerReader.read() takes an ordinary end for one, and nothing else", () => {
  const ends: [LanguageModelV4StreamPart, string][] = [
    [finish("stop", "stop"), "stop"],
    [finish("tool-calls", "tool_calls"), "stop"],
    [finish("length", "length"), "length"],
    [finish("other", "eos_token"), "stop"],
    [finish("content-filter", "stop"), "stop"],
  ];
  for (const [part, reason] of ends) {
    const { events, error } = read([part]);
    assertEquals([error, (events[0] as { reason?: string }).reason], [undefined, reason]);
  }
  const noEnds: [LanguageModelV4StreamPart[], string][] = [
    [[finish("other")], "its stream ended before the answer did"],
    [[finish("other", "abort")], 'its server says "abort"'],
    [[finish("other", "insufficient_system_resource")], "insufficient_system_resource"],
    [[finish("error")], "its stream ended before the answer did"],
    [[finish("interrupted")], "its stream ended before the answer did"],
    [[finish("content-filter", "content_filter")], "content filter"],
    [[{ type: "error", error: { message: "boom", type: "api_error" } }], "answered 500: boom"],
  ];
  for (const [parts, part] of noEnds) {
    const { events, error } = read(parts);
    assertEquals(events, []);
    assertStringIncludes(error!, part);
  }
});

Deno.test("AnswerReader.read() counts what the provider did not count as 0", () => {
  const { events } = read([finish("stop", "stop")]);
  assertEquals(events, [{
    type: "finish",
    model: "p/m",
    reason: "stop",
    usage: { inputTokens: 0, outputTokens: 0, reasoningTokens: 0, cachedTokens: 0 },
  }]);
});

Deno.test("AnswerReader.read() yields what looked like the beginning of a tag in the end", () => {
  const { events } = read([
    { type: "text-start", id: "1" },
    { type: "text-delta", id: "1", delta: "1 <" },
    { type: "text-delta", id: "1", delta: "" },
    finish("stop", "stop"),
  ]);
  assertEquals(events.slice(0, -1), [{ type: "text", text: "1 " }, { type: "text", text: "<" }]);
});

Deno.test("AnswerReader.read() gathers what has to come back, and leaves the provider's own tools alone", () => {
  const metadata = { anthropic: { signature: "s" } };
  const { events } = read([
    { type: "reasoning-start", id: "r" },
    { type: "reasoning-delta", id: "r", delta: "a" },
    { type: "reasoning-delta", id: "r", delta: "", providerMetadata: metadata },
    { type: "reasoning-delta", id: "plain", delta: "b" },
    { type: "tool-call", toolCallId: "1", toolName: "own", input: "{}", providerExecuted: true },
    { type: "tool-call", toolCallId: "2", toolName: "t", input: " ", providerMetadata: { x: {} } },
    { type: "tool-call", toolCallId: "2", toolName: "t", input: "7", providerMetadata: metadata },
    finish("tool-calls", "tool_use"),
  ]);
  assertEquals(events.slice(0, -1), [
    { type: "reasoning", text: "a" },
    { type: "reasoning", text: "b" },
    { type: "call", call: { callId: "2", tool: "t", args: {} } },
    { type: "call", call: { callId: "2_2", tool: "t", args: 7 } },
  ]);
  assertEquals((events.at(-1) as { replay?: unknown }).replay, {
    model: "p/m",
    reasoning: [{ text: "a", data: metadata }],
    calls: { "2_2": metadata },
  });
});
