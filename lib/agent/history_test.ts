import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { cutText, cutToFit, newEntry, NO_RESULT, totalTokens, wholeSteps } from "./history.ts";
import type { Message, ToolCall } from "../contract/messages.ts";

const person = (text: string): Message => ({ role: "user", parts: [{ type: "text", text }] });
const agent = (text: string, ...callIds: string[]): Message => ({
  role: "assistant",
  text,
  calls: callIds.map((callId): ToolCall => ({ callId, tool: "t", args: {} })),
});
const results = (...callIds: string[]): Message => ({
  role: "tool",
  results: callIds.map((callId) => ({ callId, tool: "t", output: callId, failed: false })),
});

const ids = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 3 }).map((
  all,
) => [...new Set(all)]);
const messages = fc.array(fc.oneof(
  fc.string().map(person),
  fc.tuple(fc.string(), ids).map(([text, all]) => agent(text, ...all)),
  ids.map((all) => results(...all)),
  fc.string().map((text): Message => ({ role: "summary", text })),
));

/** Whether every call is answered once, in order, right behind it, and nothing else is. */
function isWhole(all: readonly Message[]): boolean {
  return all.every((message, at) => {
    const before = all[at - 1];
    const open = before?.role === "assistant" ? before.calls : [];
    if (message.role !== "tool") return open.length === 0;
    return open.length > 0 && message.results.map(({ callId }) => callId).join() ===
        open.map(({ callId }) => callId).join();
  }) &&
    !(all.at(-1)?.role === "assistant" && (all.at(-1) as { calls: unknown[] }).calls.length > 0);
}

Deno.test("W5 wholeSteps() answers every call exactly once, whatever is on record", () => {
  fc.assert(fc.property(messages, (all) => {
    const whole = wholeSteps(all);
    assert(isWhole(whole), JSON.stringify(whole));
    assertEquals(wholeSteps(whole), whole);
    const rest = (some: readonly Message[]) => some.filter(({ role }) => role !== "tool");
    assertEquals(rest(whole), rest(all));
  }));
});

Deno.test("wholeSteps() keeps the results that there are, and says which is missing", () => {
  const whole = wholeSteps([person("x"), agent("", "a", "b"), results("b", "z"), results("q")]);
  assertEquals(whole.length, 3);
  assertEquals(whole[2], {
    role: "tool",
    results: [
      { callId: "a", tool: "t", output: NO_RESULT, failed: true },
      { callId: "b", tool: "t", output: "b", failed: false },
    ],
  });
});

Deno.test("wholeSteps() hands on the same objects when nothing is missing", () => {
  const all = [person("x"), agent("y", "a"), results("a"), agent("z")];
  wholeSteps(all).forEach((message, at) => assert(message === all[at]));
});

Deno.test("cutText() states how much it left out, and keeps both ends", () => {
  const text = "begin " + "x".repeat(1_000) + " end";
  const cut = cutText(text, 200);
  assertEquals(cut.length, 200);
  assertStringIncludes(cut, "begin ");
  assertStringIncludes(cut, " end");
  assertStringIncludes(cut, "characters or more left out");
  assertEquals(cutText("short", 5), "short");
  assert(cutText("😀".repeat(1_000), 201).isWellFormed());
});

Deno.test("cutToFit() shortens the largest ones only, down to the budget", () => {
  const entries = [person("a".repeat(400)), person("b".repeat(40_000)), results("c")]
    .map((message) => newEntry("t", message));
  const fitted = cutToFit(entries, 1_000)!;
  assert(totalTokens(fitted) <= 1_000);
  assert(totalTokens(fitted) > 800, "most of the budget is used");
  assertEquals(fitted[0], entries[0]);
  assertEquals(fitted[2], entries[2]);
  assertStringIncludes(JSON.stringify(fitted[1]!.message), "left out");
});

Deno.test("cutToFit() never exceeds the budget, and gives up when texts cannot make it", () => {
  const long = fc.integer({ min: 0, max: 30_000 }).map((length) => "y".repeat(length));
  const some = fc.array(fc.oneof(long.map(person), long.map((text) => agent(text))), {
    maxLength: 8,
  });
  fc.assert(fc.property(some, fc.integer({ min: 1, max: 5_000 }), (all, max) => {
    const entries = all.map((message) => newEntry("t", message));
    const fitted = cutToFit(entries, max);
    if (fitted === undefined) {
      assert(totalTokens(entries) > max);
      assert(max / entries.length < 200, "there was room enough");
    } else {
      assert(totalTokens(fitted) <= max);
      assertEquals(fitted.map(({ message }) => message.role), all.map(({ role }) => role));
    }
  }));
  const huge = newEntry("t", {
    role: "assistant",
    text: "",
    calls: [{ callId: "a", tool: "t", args: { text: "x".repeat(10_000) } }],
  });
  assertEquals(cutToFit([huge], 1_000), undefined);
});

Deno.test("cutToFit() keeps the place of an image that does not fit", () => {
  const image: Message = {
    role: "user",
    parts: [{ type: "image", mediaType: "image/png", data: "AAAA" }],
  };
  const fitted = cutToFit([newEntry("t", image)], 500)!;
  assertStringIncludes(JSON.stringify(fitted[0]!.message), "An image (image/png) was left out");
});
