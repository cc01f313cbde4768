import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { ServiceError } from "../base/errors.ts";
import type { Journal, SessionSearch } from "../contract/journal.ts";
import { anyString } from "../../tests/support/any_string.ts";
import { rounds } from "../../tests/support/rounds.ts";
import { openJournal } from "./open.ts";
import { assertRows } from "./testing/assert_rows.ts";
import { copiesOfDeletion, crashCopy, ending, newTurn, withFolder } from "./testing/steps.ts";

let turns = 0;

/** A turn that has ended. */
async function say(journal: Journal, sessionKey: string, said: string, answer = ""): Promise<void> {
  const id = `turn-${turns++}`;
  const input = [{ type: "text" as const, text: said }];
  await journal.accept(newTurn(id, { sessionKey, input }), { begin: { model: "test/model" } });
  const message = { role: "assistant" as const, text: answer, calls: [] };
  await journal.end(id, { ...ending(), ...answer !== "" && { answer: { message, events: [] } } });
}

async function found(journal: Journal, q: string, more: Partial<SessionSearch> = {}) {
  const page = await journal.search({ q, limit: 50, ...more } as SessionSearch);
  return page.map(({ session, count, texts }) => [
    session.key,
    count,
    ...texts.map(({ role, snippet }) =>
      `${role}: ${snippet.map(({ text, match }) => match ? `[${text}]` : text).join("")}`
    ),
  ]);
}

Deno.test("search() finds words of people and of the agent, newest session first", async () => {
  const journal = openJournal({ path: ":memory:" });
  await say(journal, "cli:a", "How is the weather in Köln?", "It rains in Koln.");
  await say(journal, "cli:b", "Weather?", "No idea.");
  await say(journal, "cli:c", "東京の天気", "晴れ");
  assertEquals(await found(journal, "weather"), [
    ["cli:b", 1, "user: [Weather]?"],
    ["cli:a", 1, "user: How is the [weather] in Köln?"],
  ]);
  assertEquals(await found(journal, "KOLN"), [
    ["cli:a", 2, "assistant: It rains in [Koln].", "user: How is the weather in [Köln]?"],
  ]);
  assertEquals(await found(journal, "weather rains"), []);
  assertEquals(await found(journal, '"weather how"'), []);
  assertEquals(await found(journal, "天気"), [["cli:c", 1, "user: 東京の[天気]"]]);
  // What comes after a search is there for the next one.
  await say(journal, "cli:a", "weather", "Still rain");
  await journal.say({ id: "said", sessionKey: "cli:c", text: "Weather report" });
  assertEquals((await found(journal, "weath")).map(([key, count]) => [key, count]), [
    ["cli:c", 1],
    ["cli:a", 2],
    ["cli:b", 1],
  ]);
  await journal.close();
});

Deno.test("search() finds a title that somebody gave, and names of documents", async () => {
  const journal = openJournal({ path: ":memory:" });
  await say(journal, "cli:a", "hello");
  await journal.renameSession("cli:a", "Trains to Rome");
  assertEquals(await found(journal, "hello"), [["cli:a", 1, "user: [hello]"]]);
  assertEquals(await found(journal, "trains"), [["cli:a", 1, "title: [Trains] to Rome"]]);
  await journal.renameSession("cli:a", "Planes");
  assertEquals([await found(journal, "trains"), (await found(journal, "planes")).length], [[], 1]);
  const file = { sha256: "ab".repeat(32), bytes: 3 };
  const input = [
    { type: "document" as const, name: "tax.pdf", mediaType: "application/pdf", file, text: "sum" },
  ];
  await journal.accept(newTurn("file", { sessionKey: "cli:b", input }));
  assertEquals(await found(journal, "tax.pdf"), []);
  await journal.end("file", ending());
  assertEquals(await found(journal, "tax.pdf"), [["cli:b", 1, "user: [tax.pdf]"]]);
  assertEquals(await found(journal, "sum"), []);
  await journal.close();
});

Deno.test("search() is paged as the list is, and finds in those sessions alone that the list has", async () => {
  const journal = openJournal({ path: ":memory:" });
  const [ann, bob] = ["ab".repeat(16), "cd".repeat(16)];
  const keys = ["api:a", "my_channel:a", "my:a", `websocket:${ann}.x`, `websocket:${bob}.x`];
  for (const key of keys) await say(journal, key, "apple");
  const search = { q: "apple", limit: 2 };
  const seen: string[] = [];
  let before: number | undefined;
  do {
    const page = await journal.search({ ...search, before });
    seen.push(...page.map(({ session }) => session.key));
    before = page.length < 2 ? undefined : page.at(-1)!.session.updatedAt;
  } while (before !== undefined);
  assertEquals(seen, keys.toReversed());
  for (
    const filter of [{ owner: ann }, { owner: null }, { channel: "my" }, { channel: "api" }, {}]
  ) {
    const listed = journal.sessions({ limit: 9, ...filter }).map(({ key }) => key);
    assertEquals((await found(journal, "apple", filter)).map(([key]) => key), listed);
  }
  assertEquals(await found(journal, "apple", { owner: "ef".repeat(16) }), []);
  await journal.close();
});

Deno.test("search() goes on from where a crash left the index", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    const journal = openJournal({ path });
    for (let n = 0; n < 40; n++) {
      await say(journal, `cli:${n % 7}`, `apple ${n}`, "x ".repeat(2_000));
    }
    const whole = (await found(journal, "apple")).map(([, count]) => count);
    await say(journal, "cli:0", "apple");
    crashCopy(path, `${folder}/b.db`);
    const copy = openJournal({ path: `${folder}/b.db` });
    assertEquals((await found(copy, "apple")).map(([, count]) => count), [
      whole[1]! as number + 1,
      ...whole.filter((_, index) => index !== 1),
    ]);
    for (const each of [journal, copy]) await each.close();
    assertRows(`${folder}/b.db`);
  }));

Deno.test("a deleted session is found no more, and none of its words are in the file", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    const journal = openJournal({ path });
    await say(journal, "cli:keep", "apple");
    for (let n = 0; n < 30; n++) await say(journal, "cli:gone", `apple zebracrossing${n}`);
    assertEquals((await found(journal, "zebracrossing29")).length, 1);
    await journal.deleteSession("cli:gone");
    assertEquals(await found(journal, "zebracrossing29"), []);
    assertEquals((await found(journal, "apple")).map(([key]) => key), ["cli:keep"]);
    await journal.close();
    const bytes = new TextDecoder("latin1").decode(Deno.readFileSync(path));
    assert(!bytes.includes("crossing"));
    assertRows(path);
  }));

Deno.test("recover() takes words out of the file that a crash left there", () =>
  withFolder(async (folder) => {
    const { copies } = await copiesOfDeletion(folder, "cli:gone", async (journal) => {
      await say(journal, "cli:keep", "apple");
      for (let n = 0; n < 30; n++) await say(journal, "cli:gone", `apple zebracrossing${n}`);
      await found(journal, "apple");
    });
    for (const path of copies) {
      const copy = openJournal({ path });
      await copy.recover();
      assertEquals((await found(copy, "apple")).map(([key]) => key), ["cli:keep"], path);
      await copy.close();
      const bytes = new TextDecoder("latin1").decode(Deno.readFileSync(path));
      assert(!bytes.includes("crossing"), path);
    }
  }));

Deno.test("search() answers whatever is asked, or says that it is no query", async () => {
  const journal = openJournal({ path: ":memory:" });
  await say(journal, "cli:a", "apple pie");
  const parts = fc.constantFrom(
    '"',
    "*",
    "NEAR(",
    "AND",
    "text:",
    "-",
    "^",
    "{",
    "\0",
    "東",
    "🎉",
    " ",
  );
  const hostile = fc.oneof(anyString(), fc.array(parts).map((some) => some.join("")));
  await fc.assert(
    fc.asyncProperty(hostile, async (q) => {
      try {
        await journal.search({ q, limit: 1 });
      } catch (error) {
        assert(error instanceof ServiceError && error.code === "invalid_request", String(error));
      }
    }),
    { numRuns: rounds(1_000, 200) },
  );
  const long = await assertRejects(() => found(journal, "a ".repeat(50_000)), ServiceError);
  assertEquals(long.code, "invalid_request");
  assertEquals(await found(journal, "東".repeat(100_000)), []);
  assertEquals(await found(journal, "x".repeat(100_000)), []);
  await journal.close();
});

Deno.test("search() finds every text by its own words", async () => {
  const journal = openJournal({ path: ":memory:" });
  let session = 0;
  await fc.assert(
    fc.asyncProperty(anyString({ minLength: 1, maxLength: 30 }), async (text) => {
      const sessionKey = `cli:${session++}`;
      if (text.trim() === "") return;
      await say(journal, sessionKey, text);
      let keys: unknown[];
      try {
        keys = (await found(journal, `"${text.replaceAll('"', " ")}"`)).map(([key]) => key);
      } catch {
        return;
      }
      assert(keys.includes(sessionKey), JSON.stringify(text));
    }),
    { numRuns: rounds(500, 60) },
  );
  await journal.close();
});
