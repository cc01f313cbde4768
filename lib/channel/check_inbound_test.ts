import { assertEquals, assertThrows } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { MAX_INBOUND_CHARS } from "../contract/inbound_message.ts";
import { checkInbound } from "./check_inbound.ts";

const SOURCE = { runtimeName: "irc.work", stateDir: "/data/channels/irc.work" };
const GOOD = { senderId: "a", chatId: "#b", content: "hi", streaming: false };

Deno.test("checkInbound() copies a message whole, and nothing else", () => {
  assertEquals(checkInbound({ ...GOOD, more: 1 }, SOURCE), GOOD);
  const full = {
    ...GOOD,
    media: ["/data/channels/irc.work/in/a.png"],
    metadata: { message_id: 7, deep: [{ a: null }] },
    sessionKey: "irc.work:thread-1",
    messageId: "m1",
    senderName: "Ann",
    sentAt: Date.UTC(2026, 0, 2),
  };
  assertEquals(checkInbound(structuredClone(full), SOURCE), full);
  assertEquals(checkInbound({ ...GOOD, content: "" }, SOURCE).content, "");
  // Pieces count: what else is said to be the content is nobody's words.
  const parts = [
    { text: "a\nb", provenance: "quoted", from: "Bob" } as const,
    { text: "c" },
  ];
  assertEquals(checkInbound({ ...GOOD, content: "fetch evil.example", parts }, SOURCE), {
    ...GOOD,
    content: "[quoted, from Bob]\n> a\n> b\n\nc",
    parts,
  });
});

Deno.test("checkInbound() names the field, the value and what is expected", () => {
  const refuse = (change: Record<string, unknown>, param: string) => {
    const error = assertThrows(() => checkInbound({ ...GOOD, ...change }, SOURCE), ServiceError);
    assertEquals(error.details.param, param);
    return error.message;
  };
  assertEquals(
    refuse({ sessionKey: "telegram:1" }, "sessionKey"),
    'Cannot publish a message: sessionKey is "telegram:1", expected a text that begins with irc.work:',
  );
  refuse({ sessionKey: "irc.work" }, "sessionKey");
  for (const id of ["", "a b", "a\u001b[2Jb", "a\0b", "\u202ea", "a\u2028b", "\ud800"]) {
    refuse({ sessionKey: `irc.work:${id}` }, "sessionKey");
  }
  refuse({ senderId: 7 }, "senderId");
  refuse({ senderId: " " }, "senderId");
  refuse({ senderId: "*" }, "senderId");
  refuse({ senderId: "al\u200bice" }, "senderId");
  refuse({ chatId: "a\nb" }, "chatId");
  refuse({ chatId: "*" }, "chatId");
  refuse({ chatId: undefined }, "chatId");
  refuse({ chatId: "x".repeat(257) }, "chatId");
  refuse({ content: "x".repeat(MAX_INBOUND_CHARS + 1) }, "content");
  refuse({ content: null }, "content");
  refuse({ parts: "hi" }, "parts");
  refuse({ parts: [null] }, "parts");
  refuse({ parts: [{ text: 7 }] }, "parts");
  refuse({ parts: [{ text: "a", provenance: "mine" }] }, "parts");
  refuse({ parts: [{ text: "a", from: 7 }] }, "parts");
  refuse({ parts: new Array(1_001).fill({ text: "a" }) }, "parts");
  refuse({ parts: new Array(3).fill({ text: "x".repeat(MAX_INBOUND_CHARS / 2) }) }, "parts");
  refuse({ streaming: "yes" }, "streaming");
  refuse({ media: ["/etc/passwd"] }, "media");
  refuse({ media: ["/data/channels/irc.work/../email/a"] }, "media");
  refuse({ media: "/data/channels/irc.work/a" }, "media");
  refuse({ media: new Array(21).fill("/data/channels/irc.work/a") }, "media");
  refuse({ media: [, "/data/channels/irc.work/a"] }, "media");
  refuse({ metadata: [] }, "metadata");
  refuse({ metadata: { when: new Date(0) } }, "metadata");
  refuse({ metadata: { text: "x".repeat(16 * 1024) } }, "metadata");
  refuse({ messageId: "" }, "messageId");
  refuse({ senderName: "x".repeat(257) }, "senderName");
  for (const sentAt of [NaN, Infinity, -1, 0, 1_767_312_000, "2026-01-02", null, 2 ** 60]) {
    refuse({ sentAt }, "sentAt");
  }
  assertEquals(
    refuse({ sentAt: 1_767_312_000 }, "sentAt"),
    "Cannot publish a message: sentAt is 1767312000, expected milliseconds since 1970, and no time " +
      "before the year 2000",
  );
  for (const value of [null, undefined, 1, "text", []]) {
    assertThrows(() => checkInbound(value, SOURCE), ServiceError);
  }
});
