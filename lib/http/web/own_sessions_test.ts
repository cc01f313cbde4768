import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { chatSessionKey } from "../../contract/chat_session.ts";
import { ServiceError } from "../../base/errors.ts";
import { openJournal } from "../../journal/open.ts";
import type { Session } from "../../contract/journal.ts";
import { ownerOf, ownSession } from "./own_sessions.ts";
import { anyString } from "../../../tests/support/any_string.ts";

const hex = (length: number) =>
  fc.array(fc.constantFrom(..."0123456789abcdef"), { minLength: length, maxLength: length })
    .map((digits) => digits.join(""));
const chatId = fc.stringMatching(/^[A-Za-z0-9_:-]{1,64}$/);
const workspace = fc.option(hex(64), { nil: undefined });

/** A journal that has a session of whatever key it is asked for. */
const everything = { session: (key: string) => ({ key }) as Session };

function isSeen(key: string, workspaceKey?: string): boolean {
  try {
    return ownSession(everything, key, { workspaceKey }).key === key;
  } catch (error) {
    if (error instanceof ServiceError && error.code === "not_found") return false;
    throw error;
  }
}

Deno.test("ownSession() gives each chat to its own workspace, and to no other", () => {
  fc.assert(
    fc.property(chatId, workspace, workspace, (id, mine, theirs) => {
      const key = chatSessionKey({ chatId: id, workspaceKey: mine });
      assertEquals(isSeen(key, mine), true);
      const isSame = mine?.slice(0, 32) === theirs?.slice(0, 32);
      assertEquals(isSeen(key, theirs), isSame);
    }),
  );
});

Deno.test("ownSession() gives a person no session of other channels", () => {
  fc.assert(
    fc.property(anyString(), hex(64), (text, person) => {
      assertEquals(isSeen(`api:${text}`), true);
      assertEquals(isSeen(`api:${text}`, person), false);
    }),
  );
});

Deno.test("ownSession() gives exactly what the journal lists, whatever keys look like", async () => {
  const ann = "ab".repeat(32);
  const journal = openJournal({ path: ":memory:" });
  const keys = [
    "api:default",
    `api:${"ab".repeat(16)}.a`,
    "websocket:a",
    "websocket:a.b",
    "websocket:.a",
    `websocket:${"ab".repeat(16)}`,
    `websocket:${"ab".repeat(16)}.a`,
    `websocket:${"ab".repeat(16)}.`,
    `websocket:${"ab".repeat(16)}.a.b`,
    `websocket:${"AB".repeat(16)}.a`,
    `websocket:${"ab".repeat(17)}.a`,
    `websocket:${"cd".repeat(16)}.a`,
    `websocket:${"ab".repeat(16)}:a`,
    `Websocket:${"ab".repeat(16)}.a`,
    `x:websocket:${"ab".repeat(16)}.a`,
  ];
  for (const key of keys) await journal.setModelPreset(key, "fast");
  for (const workspaceKey of [undefined, ann, "cd".repeat(32)]) {
    const owner = ownerOf({ workspaceKey });
    const listed = journal.sessions({ limit: 100, owner }).map(({ key }) => key);
    assertEquals(listed.toSorted(), keys.filter((key) => isSeen(key, workspaceKey)).toSorted());
  }
  await journal.close();
});

Deno.test("ownSession() says the same of what is not there, in few words", () => {
  const none = { session: () => undefined };
  const error = assertThrows(
    () => ownSession(none, `api:${"x".repeat(10_000)}`, {}),
    ServiceError,
    "There is no session",
  );
  assertEquals([error.code, error.message.length < 300], ["not_found", true]);
});
