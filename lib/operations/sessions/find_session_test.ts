import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { chatOwner, chatSessionKey } from "../../contract/chat_session.ts";
import { ServiceError } from "../../base/errors.ts";
import { openJournal } from "../../journal/open.ts";
import type { Session, SessionFilter } from "../../contract/journal.ts";
import { findSession } from "./find_session.ts";
import { anyString } from "../../../tests/support/any_string.ts";

const hex = (length: number) =>
  fc.array(fc.constantFrom(..."0123456789abcdef"), { minLength: length, maxLength: length })
    .map((digits) => digits.join(""));
const chatId = fc.stringMatching(/^[A-Za-z0-9_:-]{1,64}$/);
const workspace = fc.option(hex(64), { nil: undefined });

/** A journal that has a session of whatever key it is asked for. */
const everything = { session: (key: string) => ({ key }) as Session };

/** What somebody with a workspace of the own sees, or somebody without one. */
const of = (workspaceKey?: string) => ({ owner: chatOwner(workspaceKey) ?? null });

function isSeen(key: string, sees: SessionFilter): boolean {
  try {
    return findSession(everything, key, sees).key === key;
  } catch (error) {
    if (error instanceof ServiceError && error.code === "not_found") return false;
    throw error;
  }
}

Deno.test("findSession() gives each chat to its own workspace, and to no other", () => {
  fc.assert(
    fc.property(chatId, workspace, workspace, (id, mine, theirs) => {
      const key = chatSessionKey({ chatId: id, workspaceKey: mine });
      assertEquals(isSeen(key, of(mine)), true);
      const isSame = mine?.slice(0, 32) === theirs?.slice(0, 32);
      assertEquals(isSeen(key, of(theirs)), isSame);
    }),
  );
});

Deno.test("findSession() gives a person no session of other channels", () => {
  fc.assert(
    fc.property(anyString(), hex(64), (text, person) => {
      assertEquals(isSeen(`api:${text}`, of()), true);
      assertEquals(isSeen(`api:${text}`, of(person)), false);
    }),
  );
});

Deno.test("findSession() gives exactly what the journal lists, whatever keys look like", async () => {
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
  const filters = [{}, of(), of(ann), of("cd".repeat(32)), { channel: "api" }, { channel: "x" }];
  for (const sees of [...filters, { channel: "websocket" }, { channel: "web" }]) {
    const listed = journal.sessions({ limit: 100, ...sees }).map(({ key }) => key);
    assertEquals(listed.toSorted(), keys.filter((key) => isSeen(key, sees)).toSorted());
  }
  await journal.close();
});

Deno.test("findSession() says the same of what is not there, in few words", () => {
  const none = { session: () => undefined };
  const error = assertThrows(
    () => findSession(none, `api:${"x".repeat(10_000)}`, {}),
    ServiceError,
    "There is no session",
  );
  assertEquals([error.code, error.message.length < 300], ["not_found", true]);
});
