import { assertEquals } from "@std/assert";
import { estimateTokens } from "./tokens.ts";

Deno.test("estimateTokens() rounds a quarter of the characters up", () => {
  assertEquals(estimateTokens({ role: "summary", text: "12345678" }), 2);
  assertEquals(estimateTokens({ role: "summary", text: "123456789" }), 3);
});

Deno.test("estimateTokens() is at least 1", () => {
  assertEquals(estimateTokens({ role: "assistant", text: "", calls: [] }), 1);
});

Deno.test("estimateTokens() counts an image flat, whatever its size", () => {
  const image = { type: "image" as const, mediaType: "image/png", data: "A".repeat(100_000) };
  assertEquals(estimateTokens({ role: "user", parts: [image] }), 1_000);
  assertEquals(
    estimateTokens({ role: "user", parts: [image, { type: "text", text: "what is it" }, image] }),
    2_003,
  );
});

Deno.test("estimateTokens() counts reasoning, and calls with their arguments as JSON", () => {
  // 4 + 4 + 4 + `{"a":1}` = 19 characters
  const calls = [{ callId: "1", tool: "tool", args: { a: 1 } }];
  assertEquals(estimateTokens({ role: "assistant", text: "text", reasoning: "deep", calls }), 5);
  const unparsed = [{ callId: "1", tool: "tool", args: undefined }];
  assertEquals(estimateTokens({ role: "assistant", text: "text", calls: unparsed }), 2);
});

Deno.test("estimateTokens() counts the outputs of tools", () => {
  const results = [
    { callId: "1", tool: "tool", output: "1234", failed: false },
    { callId: "2", tool: "tool", output: "12345678", failed: true },
  ];
  assertEquals(estimateTokens({ role: "tool", results }), 5);
});
