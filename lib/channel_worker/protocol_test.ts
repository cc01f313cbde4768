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

Deno.test("what a channel asks for is a message, or a file of its own", () => {
  const { publish, transcribe } =
    channelHost({ runtimeName: "irc", stateDir: "/d/channels/irc" }).calls;
  const message = { senderId: "a", chatId: "c", content: "hi", streaming: false };
  assertEquals(publish.params!({ ...message, more: 1 }), message);
  assertThrows(() => publish.params!({ ...message, sessionKey: "x:a" }), Error, "sessionKey");
  assertEquals(transcribe.params!("/d/channels/irc/a.ogg"), "/d/channels/irc/a.ogg");
  assertThrows(() => transcribe.params!("/d/channels/xmpp/a"), Error, "not in its folder");
});
