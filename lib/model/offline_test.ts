import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import type { PromptMessage } from "../contract/messages.ts";
import { createOfflineModel } from "./offline.ts";
import { ask, READ_FILE, says } from "./testing/ask.ts";

const model = createOfflineModel({ contextTokens: 100_000 });
const LIST_FILES = { ...READ_FILE, name: "list_files", parameters: { type: "object" } };

Deno.test("createOfflineModel() says what it is, in pieces, and how to get a real model", async () => {
  const { text, events, finish } = await ask(model, {
    messages: [says("what is 2+2?")],
    tools: [LIST_FILES],
  });
  assertStringIncludes(text, "built-in offline model");
  assertStringIncludes(text, "You said: what is 2+2?");
  assertStringIncludes(text, "service onboard");
  assertStringIncludes(text, "/tool list_files {}");
  assert(events.length > 3 && events.length <= 25, `${events.length} events`);
  assertEquals([finish?.model, finish?.reason], ["offline", "stop"]);
  assert(finish!.usage.inputTokens > 0 && finish!.usage.outputTokens > 0);
});

Deno.test("createOfflineModel() calls the tool that it is told to call", async () => {
  const said = '/tool read_file {"path":\n "a b.md"}';
  const { calls } = await ask(model, { messages: [says(said)], tools: [READ_FILE] });
  assertEquals(calls, [{ callId: "offline_1", tool: "read_file", args: { path: "a b.md" } }]);
  const bare = await ask(model, { messages: [says(" /tool list_files ")], tools: [LIST_FILES] });
  assertEquals(bare.calls, [{ callId: "offline_1", tool: "list_files", args: {} }]);
});

Deno.test("createOfflineModel() answers with the tool's result, and failure", async () => {
  const asked: PromptMessage[] = [says("/tool list_files"), {
    role: "assistant",
    text: "",
    calls: [{ callId: "offline_1", tool: "list_files", args: {} }],
  }];
  const result = (output: string, failed: boolean): PromptMessage => ({
    role: "tool",
    results: [{ callId: "offline_1", tool: "list_files", output, failed }],
  });
  const done = await ask(model, { messages: [...asked, result("notes.md", false)] });
  assertEquals(done.text, "list_files answered:\n\nnotes.md");
  assertEquals(done.calls, []);
  const failed = await ask(model, { messages: [...asked, result("no such folder", true)] });
  assertEquals(failed.text, "list_files failed:\n\nno such folder");
});

Deno.test("createOfflineModel() numbers a further call of the conversation anew", async () => {
  const messages: PromptMessage[] = [
    says("/tool list_files"),
    { role: "assistant", text: "", calls: [{ callId: "offline_1", tool: "list_files", args: {} }] },
    {
      role: "tool",
      results: [{ callId: "offline_1", tool: "list_files", output: "", failed: false }],
    },
    { role: "assistant", text: "list_files answered", calls: [] },
    says("/tool list_files"),
  ];
  const { calls } = await ask(model, { messages, tools: [LIST_FILES] });
  assertEquals(calls.map(({ callId }) => callId), ["offline_2"]);
});

Deno.test("createOfflineModel() says what it expected when a call cannot be made", async () => {
  const cases: [string, string[]][] = [
    ["/tool", ["/tool <name> <json>", "Tools: read_file, list_files."]],
    ["/tool nope {}", ['no tool "nope"', "Tools: read_file, list_files."]],
    ["/tool read_file {path: 1}", ["not a JSON object: {path: 1}", "It takes: path."]],
    ["/tool read_file [1]", ["not a JSON object"]],
    ["/tool list_files 7", ["not a JSON object", "It takes no arguments."]],
  ];
  for (const [said, expected] of cases) {
    const { text, calls } = await ask(model, {
      messages: [says(said)],
      tools: [READ_FILE, LIST_FILES],
    });
    assertEquals(calls, [], said);
    for (const part of expected) assertStringIncludes(text, part);
  }
});

Deno.test("createOfflineModel() takes /tool only from the last thing that was said", async () => {
  const earlier = await ask(model, {
    messages: [says("/tool list_files"), { role: "assistant", text: "ok", calls: [] }, says("hi")],
    tools: [LIST_FILES],
  });
  assertEquals(earlier.calls, []);
  const inside = await ask(model, {
    messages: [says("say /tool list_files")],
    tools: [LIST_FILES],
  });
  assertEquals(inside.calls, []);
  const other = await ask(model, { messages: [says("/toolbox")], tools: [LIST_FILES] });
  assertStringIncludes(other.text, "You said: /toolbox");
});

Deno.test("createOfflineModel() gives back any result whole", () =>
  fc.assert(fc.asyncProperty(fc.string({ unit: "grapheme", maxLength: 4_000 }), async (output) => {
    const { text, events } = await ask(model, {
      messages: [{ role: "tool", results: [{ callId: "1", tool: "t", output, failed: false }] }],
    });
    assertEquals(text, `t answered:\n\n${output}`);
    for (const event of events) {
      if (event.type === "text") assert(event.text.isWellFormed() || !output.isWellFormed());
    }
  })));

Deno.test("createOfflineModel() stops when the signal aborts", async () => {
  const reason = new Error("enough");
  const { error, events } = await ask(model, { signal: AbortSignal.abort(reason) });
  assertEquals([error, events.length], [reason, 0]);
});
