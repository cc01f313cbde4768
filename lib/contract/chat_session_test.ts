import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ServiceError } from "../base/errors.ts";
import { CHAT_ID } from "./wire/frames.ts";
import { chatOfSession, chatOwner, chatSessionKey } from "./chat_session.ts";

const chatIds = fc.stringMatching(CHAT_ID);
const workspaceKeys = fc.option(fc.stringMatching(/^[0-9a-f]{64}$/), { nil: undefined });

Deno.test("chatSessionKey() reads back as the same chat, and no two chats share a key", () => {
  fc.assert(
    fc.property(chatIds, workspaceKeys, chatIds, workspaceKeys, (a, keyA, b, keyB) => {
      const first = chatSessionKey({ chatId: a, workspaceKey: keyA });
      const owner = chatOwner(keyA);
      assertEquals(
        chatOfSession(first),
        owner === undefined ? { chatId: a } : { chatId: a, owner },
      );
      const second = chatSessionKey({ chatId: b, workspaceKey: keyB });
      assertEquals(first === second, a === b && owner === chatOwner(keyB));
    }),
  );
});

Deno.test("chatSessionKey() refuses what is no chat id or workspace key", () => {
  const other = "0".repeat(32);
  for (const chatId of ["", "a.b", `${other}.a`, "a b", "a\n", "ä", "x".repeat(65), "a/b"]) {
    const error = assertThrows(() => chatSessionKey({ chatId }), ServiceError);
    assertEquals([error.code, error.details.param], ["invalid_request", "chat_id"]);
  }
  for (const workspaceKey of ["", "a", "A".repeat(64), "0".repeat(63), `${"0".repeat(64)}\n`]) {
    assertThrows(() => chatSessionKey({ chatId: "a", workspaceKey }), ServiceError);
  }
});

Deno.test("chatOfSession() knows the keys of chats alone", () => {
  const owner = "ab".repeat(16);
  assertEquals(chatOfSession("websocket:a:b"), { chatId: "a:b" });
  assertEquals(chatOfSession(`websocket:${owner}.x`), { chatId: "x", owner });
  for (
    const key of [
      "websocket:",
      "websocket:a.b",
      "websocket:.a",
      `websocket:${owner}.`,
      `websocket:${owner}.a.b`,
      `websocket:${owner.toUpperCase()}.a`,
      "api:default",
      "websockets:a",
      "automation:x",
    ]
  ) assert(chatOfSession(key) === undefined, key);
});
