import { assertEquals } from "@std/assert";
import { chatIdOf, placeOf } from "./chat_id.ts";

Deno.test("chatIdOf() and placeOf() name rooms and threads both ways", () => {
  const places = [
    { roomId: "!a:example.org" },
    { roomId: "!a:example.org", threadId: "$event" },
    // Of rooms of version 3, whose ids of events may hold slashes.
    { roomId: "!a:example.org", threadId: "$a/b+c/$d" },
    // Of rooms of version 12, whose ids have no server.
    { roomId: "!31hneApxJ_1o-63DmFrpeqnkFfWppnzWso1JvH3ogLM", threadId: "$e" },
  ];
  for (const place of places) assertEquals(placeOf(chatIdOf(place)!), place);
});

Deno.test("chatIdOf() gives the room where a thread's id would be too long, and nothing for what nobody sees", () => {
  const roomId = `!${"a".repeat(200)}:example.org`;
  assertEquals(chatIdOf({ roomId, threadId: `$${"b".repeat(60)}` }), roomId);
  assertEquals(chatIdOf({ roomId: "!a\u202E:example.org" }), undefined);
});

Deno.test("placeOf() refuses what is no chat of Matrix", () => {
  for (const chatId of ["", "alice", "@alice:example.org", "#room:example.org", "! a:b", "!"]) {
    assertEquals(placeOf(chatId), undefined, chatId);
  }
});
