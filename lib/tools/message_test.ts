import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { describeTool } from "./mod.ts";
import { message } from "./message.ts";

const ARGS = { content: "hi", channel: "telegram", chat_id: "12345" };

function problem(args: unknown): string | undefined {
  const parsed = message.schema.safeParse(args);
  return parsed.error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join(
    "; ",
  );
}

Deno.test("message takes content, channel and chat_id, and touches that chat", () => {
  assertEquals(problem(ARGS), undefined);
  assertEquals(message.touches(ARGS), { kind: "chat", channel: "telegram", chatId: "12345" });
  assertEquals(message.hint(ARGS), "message telegram:12345");
  assertEquals([message.capability, message.readOnly], ["message.send", false]);
  const sent = { files: ["report.pdf"], channel: "telegram", chat_id: "12345" };
  assertEquals(message.touches(sent), {
    kind: "chat",
    channel: "telegram",
    chatId: "12345",
    files: ["report.pdf"],
  });
  assertEquals(message.touches({ files: ["a"] }), { kind: "chat", files: ["a"] });
  assertEquals(message.reads!(sent), ["report.pdf"]);
  assertEquals(message.hint(sent), "message telegram:12345 report.pdf");
  for (const args of [sent, { files: ["a"] }]) assertEquals(problem(args), undefined);
  for (
    const more of [
      { content: "x".repeat(100_000) },
      { content: " a\n\n\tb 🙂\u202e" },
      { channel: "telegram.work" },
      { chat_id: "x".repeat(256) },
      { chat_id: "!a:b" },
    ]
  ) assertEquals(problem({ ...ARGS, ...more }), undefined);
});

Deno.test("message names the argument that does not fit", () => {
  const cases: [unknown, string][] = [
    [{ ...ARGS, content: "" }, "content"],
    [{ ...ARGS, content: " \n\t\u00a0" }, "content: is blank"],
    [{ ...ARGS, content: "x".repeat(100_001) }, "content"],
    [{ ...ARGS, content: "a\ud800" }, "content: holds half"],
    [{ ...ARGS, content: ["a"] }, "content"],
    [{ ...ARGS, channel: "" }, "channel: expected a channel's name"],
    [{ ...ARGS, channel: "google-chat" }, "channel: expected a channel's name"],
    [{ ...ARGS, channel: "a:b" }, "channel: expected a channel's name"],
    [{ ...ARGS, channel: `a${"b".repeat(128)}` }, "channel"],
    [{ ...ARGS, chat_id: "" }, "chat_id"],
    [{ ...ARGS, chat_id: "*" }, "chat_id: expected one chat's id"],
    [{ ...ARGS, chat_id: "a\nb" }, "chat_id: expected one chat's id"],
    [{ ...ARGS, chat_id: 12345 }, "chat_id"],
    [{ ...ARGS, chat_id: "x".repeat(257) }, "chat_id"],
    [{ ...ARGS, to: "x" }, '"to"'],
    [{ content: "hi" }, "channel: is missing"],
    [{ files: ["a"], content: "hi" }, "content: must be left out"],
    [{ files: ["a"], channel: "telegram" }, "chat_id: is missing"],
    [{ files: ["a"], chat_id: "1" }, "channel: is missing"],
    [{ channel: "telegram", chat_id: "1" }, "content: is missing"],
    [{ ...ARGS, files: [] }, "files"],
    [{ ...ARGS, files: [""] }, "files.0"],
    [{ ...ARGS, files: Array(11).fill("a") }, "files"],
  ];
  for (const [args, expected] of cases) {
    assertStringIncludes(problem(args) ?? "no problem", expected);
  }
});

Deno.test("message tells the model that nothing is delivered elsewhere by itself", () => {
  const { description, parameters } = describeTool(message);
  assertStringIncludes(description, "explicit channel and chat_id");
  assertEquals(Object.keys(parameters.properties!), ["content", "channel", "chat_id", "files"]);
  assert(!("$schema" in parameters));
});
