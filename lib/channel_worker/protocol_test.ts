import { assertEquals, assertThrows } from "@std/assert";
import { CHANNEL, channelHost } from "./protocol.ts";

Deno.test("what a channel answers is a copy of plain data within its bound, or refused", () => {
  const read = CHANNEL.calls.validate.result!;
  const shared = { a: [1, "b", null] };
  const copy = read([shared, shared]) as unknown[];
  assertEquals(copy, [shared, shared]);
  assertEquals(copy[0] === shared, false);
  const circular: Record<string, unknown> = {};
  circular.itself = circular;
  for (const wrong of [circular, "x".repeat(1e6), () => {}, new Map()]) {
    assertThrows(() => read(wrong), Error, "no plain data, or too much");
  }
  assertThrows(() => CHANNEL.calls.load.result!({ supportsStreaming: 1 }), Error, "true or false");
});

Deno.test("what a channel stores is bounded, and nothing but texts", () => {
  const { calls } = channelHost({ runtimeName: "irc", stateDir: "/d/channels/irc" });
  const add = calls.intake_add.params!;
  const row = { lane: "c", id: "1", data: "{}" };
  assertEquals(add({ rows: [{ ...row, seq: 7 }], cursors: { a: "1" } }), {
    rows: [row],
    cursors: { a: "1" },
  });
  for (
    const [wrong, words] of [
      [{ rows: [row], cursors: null }, "an object"],
      [{ rows: [row], cursors: { a: 1 } }, "expected text"],
      [{ rows: [{ ...row, lane: 1 }], cursors: {} }, "lane: expected text"],
      [{ rows: [{ ...row, lane: "x".repeat(1e6) }], cursors: {} }, "at most 16384"],
      [{ rows: [{ ...row, data: "x".repeat(2e6) }], cursors: {} }, "at most 1048576"],
      [{ rows: Array(20_000).fill(row), cursors: {} }, "at most 10000 items"],
    ] as const
  ) assertThrows(() => add(wrong), Error, words);
  assertThrows(() => calls.intake_next.params!({ lane: "c", taken: "1" }), Error, "whole number");
});

Deno.test("what a channel asks for is a message, or a file of its own", () => {
  const { publish, transcribe } =
    channelHost({ runtimeName: "irc", stateDir: "/d/channels/irc" }).calls;
  const message = { senderId: "a", chatId: "c", content: "hi", streaming: false };
  assertEquals(publish.params!({ ...message, more: 1 }), message);
  assertThrows(() => publish.params!({ ...message, sessionKey: "x:a" }), Error, "sessionKey");
  assertEquals(transcribe.params!("/d/channels/irc/a.ogg"), "/d/channels/irc/a.ogg");
  assertThrows(() => transcribe.params!("/d/channels/xmpp/a"), Error, "not in its folder");
});
