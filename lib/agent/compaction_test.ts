import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { mechanicalSummary, planCompaction, summaryRequest, withRequest } from "./compaction.ts";
import type { Entry } from "./history.ts";
import type { Message } from "../contract/messages.ts";

function plan(some: Entry[], maxTokens: number, maxMessages = Infinity): number | undefined {
  return planCompaction(some, { maxTokens, maxMessages });
}

/** Entries of the roles u, a (answers), c (calls), t (results), s (summary), 10 tokens each. */
function entries(roles: string, withIds = true): Entry[] {
  const messages: Record<string, Message> = {
    u: { role: "user", parts: [{ type: "text", text: "u" }] },
    a: { role: "assistant", text: "a", calls: [] },
    c: { role: "assistant", text: "", calls: [{ callId: "1", tool: "t", args: {} }] },
    t: { role: "tool", results: [{ callId: "1", tool: "t", output: "o", failed: false }] },
    s: { role: "summary", text: "s" },
  };
  return [...roles].map((role, at) => ({
    ...withIds && { id: at + 1 },
    turnId: "t",
    message: messages[role]!,
    tokens: 10,
  }));
}

Deno.test("planCompaction() keeps the newest, from the earliest message of a person that fits", () => {
  assertEquals(plan(entries("uauauaua"), 40), 4);
  assertEquals(plan(entries("uauauaua"), 45), 4);
  assertEquals(plan(entries("uaucta"), 40), 2);
});

Deno.test("planCompaction() keeps the earliest step that fits when no person's message does", () => {
  assertEquals(plan(entries("uctctctct"), 40), 5);
  assertEquals(plan(entries("uctctctct"), 35), 7);
});

Deno.test("planCompaction() keeps as many messages as are allowed, however small they are", () => {
  assertEquals(plan(entries("uauauaua"), 1_000, 4), 4);
  assertEquals(plan(entries("uctctctct"), 1_000, 3), 7);
});

Deno.test("planCompaction() keeps the newest step whole although it is too large", () => {
  assertEquals(plan(entries("uctct"), 5), 3);
  assertEquals(plan(entries("uau"), 5), 2);
});

Deno.test("planCompaction() finds nothing where only a summary, or nothing, stands before", () => {
  assertEquals(plan(entries("u"), 5), undefined);
  assertEquals(plan(entries(""), 5), undefined);
  assertEquals(plan(entries("su"), 5), undefined);
  assertEquals(plan(entries("ua", false), 5), undefined);
});

Deno.test("planCompaction() never begins with results, and always leaves something out", () => {
  const turns = fc.array(fc.constantFrom("ua", "ucta", "uctct", "uctctcta", "u"), { maxLength: 8 });
  fc.assert(fc.property(turns, fc.boolean(), fc.nat(300), (all, summary, keepTokens) => {
    const some = entries((summary ? "s" : "") + all.join(""));
    const keep = plan(some, keepTokens);
    if (keep === undefined) return;
    assert(some[keep]!.message.role !== "tool");
    assert(some.slice(0, keep).some(({ message }) => message.role !== "summary"));
    const kept = some.slice(keep);
    const steps = kept.filter(({ message }) => message.role !== "tool").length;
    assert(kept.length * 10 <= keepTokens || steps === 1, "more is kept than fits");
  }));
});

Deno.test("summaryRequest() shows the conversation as data, without tools, bounded", () => {
  const messages: Message[] = [
    { role: "summary", text: "before" },
    {
      role: "user",
      parts: [{ type: "text", text: "look" }, { type: "image", mediaType: "image/png", data: "A" }],
    },
    { role: "assistant", text: "so", calls: [{ callId: "1", tool: "read", args: { path: "a" } }] },
    {
      role: "tool",
      results: [{ callId: "1", tool: "read", output: "x".repeat(50_000), failed: true }],
    },
  ];
  const request = summaryRequest(messages, { maxWords: 70, maxChars: 5_000 });
  assertEquals(request.tools, []);
  const [message] = request.messages;
  assert(message?.role === "user" && message.parts[0]?.type === "text");
  const { text } = message.parts[0];
  assert(text.length < 5_500);
  for (
    const part of [
      "Summary of what came before: before",
      "Person: look\n[image, image/png]",
      "Agent: so",
      'Agent called read({"path":"a"})',
      "Failure of read: xxx",
      "at most 70 words",
    ]
  ) assertStringIncludes(text, part);
});

Deno.test("mechanicalSummary() says what it is, and is bounded and never empty", () => {
  const messages = entries("s" + "uctca".repeat(500)).map(({ message }) => message);
  const summary = mechanicalSummary(messages, 1_000);
  assertStringIncludes(summary, "No model could summarize");
  assert(summary.length < 1_300);
  assert(mechanicalSummary([], 10).length > 0);
});

Deno.test("withRequest() repeats the person's words, cut when they are long", () => {
  const text = withRequest("short", [{ type: "text", text: "do it " + "x".repeat(10_000) }]);
  assertStringIncludes(text, "short\n\n");
  assertStringIncludes(text, "do it");
  assert(text.length < 4_200);
});
