import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import type { Journal, SessionFilter } from "../contract/journal.ts";
import { openJournal } from "../journal/open.ts";
import { begin, ending, newTurn } from "../journal/testing/steps.ts";
import { someParts } from "./testing/gateway_parts.ts";
import { runGatewayOperation } from "./operations.ts";

/** Sessions of three channels, one of which works in a project. */
async function setUp() {
  const journal = openJournal({ path: ":memory:" });
  await say(journal, "cli:a", "one", "/code");
  await say(journal, "api:b", "two");
  await say(journal, "mcp:c", "three");
  const parts = someParts({
    journal,
    isRunning: (key) => key === "api:b",
    openTurns: () => [],
    maxContextTokens: () => 100_000,
    scrubber: {
      value: (value) => JSON.parse(JSON.stringify(value).replaceAll("s3cret", "[secret]")),
    },
    randomId: () => "made",
  });
  const credential = { kind: "token", token: "" } as const;
  const { signal } = new AbortController();
  // deno-lint-ignore no-explicit-any -- JSON of any shape
  const ask = (op: string, given: object = {}, sees: SessionFilter = {}): Promise<any> =>
    runGatewayOperation({ op, ...given }, parts, { credential, sees, signal });
  return { journal, ask, [Symbol.asyncDispose]: () => journal.close() };
}

async function say(journal: Journal, sessionKey: string, id: string, folder?: string) {
  const input = [{ type: "text" as const, text: `input of ${id}` }];
  await journal.accept(newTurn(id, { sessionKey, input }), { folder });
  await journal.end(id, ending());
}

const codeOf = async (answer: Promise<unknown>) =>
  (await assertRejects(() => answer)) as ServiceError;

Deno.test("whoever owns the home has every session, with the project that it works in", async () => {
  await using home = await setUp();
  const { sessions } = await home.ask("sessions.list");
  assertEquals(
    sessions.map((row: Record<string, unknown>) => [row.key, row.folder, row.running]),
    [["mcp:c", undefined, false], ["api:b", undefined, true], ["cli:a", "/code", false]],
  );
  // A path of this machine is nothing for who comes over a port.
  const shown = await home.ask("sessions.get", { key: "cli:a" }, { owner: null });
  assertEquals([shown.key, "folder" in shown], ["cli:a", false]);
});

Deno.test("with a channel there are its sessions alone, whatever is asked of them", async () => {
  await using home = await setUp();
  const api = { channel: "api" };
  assertEquals((await home.ask("sessions.list", {}, api)).sessions.length, 1);
  assertEquals((await home.ask("sessions.get", { key: "api:b" }, api)).key, "api:b");
  const given = { title: "T", before_user_index: 0 };
  for (const op of ["get", "messages", "recording", "rename", "fork", "delete"]) {
    const error = await codeOf(home.ask(`sessions.${op}`, { ...given, key: "cli:a" }, api));
    assertEquals([op, error.code], [op, "not_found"]);
  }
  const items = await home.ask("sessions.export", { key: "cli:a" }, api);
  assertEquals((await codeOf(items.next())).code, "not_found");
  assertEquals(home.journal.session("cli:a")?.title, "input of one");
});

Deno.test("a search finds in the sessions of the list alone, page by page", async () => {
  await using home = await setUp();
  const found = async (given: object, sees: SessionFilter = {}) => {
    const { sessions, before } = await home.ask("sessions.search", { q: "input", ...given }, sees);
    return [sessions.map(({ key }: { key: string }) => key), before !== undefined];
  };
  assertEquals(await found({}), [["mcp:c", "api:b", "cli:a"], false]);
  assertEquals(await found({ limit: 2 }), [["mcp:c", "api:b"], true]);
  assertEquals(await found({}, { channel: "api" }), [["api:b"], false]);
  assertEquals(await found({ q: "two" }, { channel: "mcp" }), [[], false]);
  const { sessions: [one] } = await home.ask("sessions.search", { q: "of on" });
  assertEquals([one.title, one.folder, one.count], ["input of one", "/code", 1]);
  assertEquals(one.matches, [{
    id: 1,
    turn_id: "one",
    role: "user",
    snippet: [
      { text: "input ", match: false },
      { text: "of", match: true },
      { text: " ", match: false },
      { text: "one", match: true },
    ],
  }]);
  for (const q of ["", "?!", "a".repeat(501), undefined]) {
    const { code, details } = await codeOf(home.ask("sessions.search", { q }));
    assertEquals([code, details.param], ["invalid_request", "q"]);
  }
});

Deno.test("a fork of the home is a session like its source, or the one that is named", async () => {
  await using home = await setUp();
  const fork = (given: object) =>
    home.ask("sessions.fork", { key: "cli:a", before_user_index: 1, ...given });
  assertEquals([(await fork({})).key, (await fork({})).key], ["cli:a-2", "cli:a-3"]);
  assertEquals((await fork({ new_key: "api:mine" })).key, "api:mine");
  assertEquals((await fork({ chat_id: "chat" })).key, "websocket:chat");
  for (
    const [given, param] of [
      [{ new_key: "api:mine" }, "new_key"],
      [{ new_key: "no key" }, "new_key"],
      [{ chat_id: "chat" }, "chat_id"],
      [{ before_user_index: 2 }, "before_user_index"],
    ] as const
  ) {
    const { code, details } = await codeOf(fork(given));
    assertEquals([code, details.param], ["invalid_request", param]);
  }
  assertEquals((await codeOf(fork({ key: "cli:none" }))).code, "not_found");
});

Deno.test("a title is kept without secrets", async () => {
  await using home = await setUp();
  const renamed = await home.ask("sessions.rename", { key: "cli:a", title: "of s3cret" });
  assertEquals([renamed.title, home.journal.session("cli:a")?.title], Array(2).fill("of [secret]"));
});

Deno.test("messages have no links and no reasoning where none are given", async () => {
  await using home = await setUp();
  const file = { sha256: "ab".repeat(32), bytes: 3 };
  const input = [{ type: "image" as const, mediaType: "image/png", file }];
  await begin(home.journal, "four", { sessionKey: "cli:d", channel: "cli", input });
  await home.journal.addMessage("four", {
    role: "assistant",
    text: "a cat",
    reasoning: "hm",
    calls: [],
  });
  const { messages } = await home.ask("sessions.messages", { key: "cli:d" });
  assertEquals(messages[0].attachments, [{ type: "image", media_type: "image/png", bytes: 3 }]);
  assertEquals([messages[0].media_urls, messages[1].reasoning], [[], undefined]);
});

Deno.test("a recording holds no secret, and whoever can't see its session has none", async () => {
  await using home = await setUp();
  const { journal } = home;
  const input = [{ type: "text" as const, text: "of s3cret" }];
  const begun = { begin: { model: "m" } };
  await journal.accept(newTurn("d", { sessionKey: "cli:d", input }), begun);
  await journal.append("d", [{ type: "text_delta", streamId: "s", text: "it is s3cret" }]);
  await journal.end("d", ending());
  const recording = await home.ask("sessions.recording", { key: "cli:d" });
  assertEquals(JSON.stringify(recording).includes("s3cret"), false);
  assertEquals(recording.answers[0][0].text, "it is [secret]");
  for (
    const [given, code] of [[{ turn: 2 }, "not_found"], [{ turn: 0 }, "invalid_request"]] as const
  ) {
    const error = await codeOf(home.ask("sessions.recording", { key: "cli:d", ...given }));
    assertEquals([error.code, error.details.param], [code, "turn"]);
  }
});
