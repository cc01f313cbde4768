import { assert, assertEquals } from "@std/assert";
import { isContextOverflow, messageOf, shownMessage } from "./provider_message.ts";

Deno.test("messageOf() finds the words in every usual shape", () => {
  const cases: [unknown, string][] = [
    ['{"error":{"message":"no such model","type":"x"}}', "no such model"],
    ['{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', "Overloaded"],
    ['{"error":"model \\"x\\" not found"}', 'model "x" not found'],
    ['{"detail":"Not Found"}', "Not Found"],
    ['{"detail":[{"loc":["body"],"msg":"field required"}]}', "field required"],
    ['{"message":"bad"}', "bad"],
    ['[{"error":{"message":"a"}}]', "a"],
    ["just text", "just text"],
    ["{broken", "{broken"],
    ["<html><body>502 Bad Gateway</body></html>", ""],
    ["", ""],
    ["{}", ""],
    [undefined, ""],
    [{ error: null }, ""],
  ];
  for (const [body, expected] of cases) assertEquals(messageOf(body), expected, String(body));
});

Deno.test("shownMessage() is one short line without secrets", () => {
  const secret = "sk-0123456789";
  assertEquals(
    shownMessage(`key ${secret}\nis\u001b[31m bad.`, [secret]),
    "key [secret] is [31m bad",
  );
  assertEquals(shownMessage("abc", ["abc", ""]), "abc");
  const long = shownMessage("x".repeat(5_000), []);
  assertEquals(long.length, 500);
  assert(long.endsWith("…"));
});

Deno.test("isContextOverflow() knows the words of common servers, and only for refusals", () => {
  const overflows = [
    "context_length_exceeded This model's maximum context length is 8192 tokens.",
    "prompt is too long: 201234 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    "exceed_context_size_error the request exceeds the available context size, try increasing it",
    "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
    "Please reduce the length of the messages or completion.",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "request_too_large Request exceeds the maximum size",
  ];
  for (const said of overflows) assert(isContextOverflow(400, said), said);
  assert(isContextOverflow(undefined, overflows[0]!));
  assert(isContextOverflow(413, overflows.at(-1)!));
  assert(!isContextOverflow(429, "Request too large for gpt-4 on tokens per min: too many tokens"));
  assert(!isContextOverflow(401, overflows[0]!));
  for (const said of ["max_tokens is too large", "Invalid value for 'temperature'", ""]) {
    assert(!isContextOverflow(400, said), said);
  }
});
