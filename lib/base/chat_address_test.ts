import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { isChannelName, isChatId, isTarget, namesChat, splitTarget } from "./chat_address.ts";

Deno.test("isChannelName() takes names of channels and instances, and nothing else (C3)", () => {
  for (
    const name of [
      "telegram",
      "a_1",
      "a",
      "Telegram",
      "telegram.work",
      "telegram.A-1_b",
      "x".repeat(128),
    ]
  ) {
    assert(isChannelName(name), name);
  }
  for (
    const name of [
      "",
      "google-chat",
      "1abc",
      "tëlegram",
      "_a",
      "a.",
      ".a",
      "a.b.c",
      "a b",
      "a:b",
      "a\n",
      "*",
      "x".repeat(129),
    ]
  ) assertEquals(isChannelName(name), false, name);
});

Deno.test("isChatId() takes any visible text that is no list of chats", () => {
  for (
    const id of [
      "12345",
      "-100",
      "#ops",
      "!room:example.org",
      "a b",
      "Ü",
      "🙂",
      "**",
      "x".repeat(256),
    ]
  ) {
    assert(isChatId(id), id);
  }
  for (
    const id of [
      "",
      " ",
      "*",
      "a\nb",
      "a\0",
      "a\x7f",
      "a\u0085",
      "a\u2028",
      "a\u202eb",
      "a\u200b",
      "\ufeffa",
      "a\ud800",
      "x".repeat(257),
    ]
  ) assertEquals(isChatId(id), false, JSON.stringify(id));
});

Deno.test("isTarget() wants a channel and one chat or all of them", () => {
  for (const target of ["telegram:12345", "telegram:*", "a.b:c:d", "Irc:#ops", "a:: "]) {
    assert(isTarget(target), target);
  }
  for (
    const target of ["", "telegram", "telegram:", ":1", "*:*", "*", "télégram:1", "a:\n", " a:1"]
  ) assertEquals(isTarget(target), false, target);
});

Deno.test("namesChat() finds what splitTarget() takes apart, and is total", () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.string(), fc.string(), (list, channel, chatId) => {
      const found = namesChat(list, { channel, chatId });
      assertEquals(
        found,
        list.map(splitTarget).some((target) =>
          target?.channel === channel && ["*", chatId].includes(target.chatId)
        ),
      );
      if (!channel.includes(":")) {
        assert(namesChat([...list, `${channel}:${chatId}`], { channel, chatId }));
        assert(namesChat([`${channel}:*`], { channel, chatId }));
      }
    }),
  );
});
