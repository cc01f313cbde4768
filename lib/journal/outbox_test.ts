import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { ServiceError } from "../base/errors.ts";
import { openJournal } from "./open.ts";
import { begin, crashCopy, ending, withFolder } from "./testing/steps.ts";
import type { Journal, OutboxMessage } from "../contract/journal.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

function message(id: string, changes: Partial<OutboxMessage> = {}): OutboxMessage {
  return { id, turnId: "a", channel: "telegram", chatId: "12345", content: "hello", ...changes };
}

const idsOf = (journal: Journal) => journal.outbox(0, 100).map(({ id }) => id);

Deno.test("enqueue() keeps a message as it is, in the order of calls", async () => {
  const journal = openJournal({ path: ":memory:", now: () => 1_000 });
  const content = "half \ud83d, NUL \0, quote \"'";
  assertEquals(
    await Promise.all([journal.enqueue(message("b", { content })), journal.enqueue(message("a"))]),
    [true, true],
  );
  assertEquals(journal.outbox(0, 1), [{
    ...message("b", { content }),
    rowid: 1,
    state: "pending",
    createdAt: 1_000,
    expiresAt: 1_000 + DAY_MS,
    attempts: 0,
  }]);
  assertEquals(journal.outbox(1, 10).map(({ id, rowid }) => [id, rowid]), [["a", 2]]);
  assertEquals(journal.outboxMessage("a"), journal.outbox(1, 1)[0]);
  assertEquals(journal.outboxMessage("c"), undefined);
  assertEquals(journal.outbox(2, 10), []);
  await journal.close();
});

Deno.test("enqueue() twice with one id is one message, also at once", async () => {
  const journal = openJournal({ path: ":memory:" });
  const again = message("a", { content: "another" });
  const both = [journal.enqueue(message("a")), journal.enqueue(again)];
  assertEquals(await Promise.all(both), [true, false]);
  assertEquals(await journal.enqueue(again), false);
  assertEquals([journal.hasMessage("a"), journal.hasMessage("b")], [true, false]);
  assertEquals(journal.outbox(0, 10).map(({ content }) => content), ["hello"]);
  await journal.close();
});

Deno.test("enqueue() refuses a channel of which 10,000 wait, and takes others", async () => {
  let time = 0;
  const journal = openJournal({ path: ":memory:", now: () => time });
  const ids = Array.from({ length: 10_001 }, (_, n) => `m${n}`);
  const results = await Promise.allSettled(ids.map((id) => journal.enqueue(message(id))));
  const refused = results.filter((result) => result.status === "rejected");
  assertEquals(refused.length, 1);
  assertEquals(results.at(-1)!.status, "rejected");
  const { reason } = refused[0]!;
  assertEquals(reason.code, "overloaded");
  assertStringIncludes(reason.message, `"telegram"`);
  assertStringIncludes(reason.message, "10000");
  // One that waits already is no new one.
  assertEquals(await journal.enqueue(message("m0")), false);
  assertEquals(await journal.enqueue(message("other", { channel: "slack" })), true);
  // When they have expired, nobody waits.
  time += DAY_MS;
  assertEquals(await journal.enqueue(message("later")), true);
  await journal.close();
});

Deno.test("outbox() shows a message as expired after 24 h, and marks it some at a time", () =>
  withFolder(async (folder) => {
    let time = 1_000;
    const path = `${folder}/a.db`;
    const journal = openJournal({ path, now: () => time });
    const statesOf = () => {
      const db = new DatabaseSync(path, { readOnly: true });
      const rows = db.prepare("SELECT state, count(*) AS n FROM outbox GROUP BY state").all();
      db.close();
      return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
    };
    const ids = Array.from({ length: 50 }, (_, n) => `m${n}`);
    await Promise.all(ids.map((id) => journal.enqueue(message(id))));
    time += DAY_MS - 1;
    assertEquals(journal.outbox(0, 1)[0]!.state, "pending");
    time += 1;
    assertEquals(new Set(journal.outbox(0, 100).map(({ state }) => state)), new Set(["expired"]));
    assertEquals(statesOf(), { pending: 50 });
    await journal.enqueue(message("next"));
    assertEquals(statesOf(), { expired: 32, pending: 19 });
    await journal.enqueue(message("again"));
    assertEquals(statesOf(), { expired: 50, pending: 2 });

    // 8 days later they go, and their ids with them.
    time += 8 * DAY_MS - 1;
    assertEquals(await journal.enqueue(message("m0")), false);
    time += 1;
    await journal.enqueue(message("first"));
    await journal.enqueue(message("second"));
    assertEquals(idsOf(journal), ["next", "again", "first", "second"]);
    assertEquals(await journal.enqueue(message("m0")), true);
    // A place in the order is not taken again.
    assert(journal.outbox(0, 100).at(-1)!.rowid > 54);
    await journal.close();
  }));

Deno.test("W2 the id of a message is known for 8 days, also of one that was dropped at once", async () => {
  let now = 1_000;
  const journal = openJournal({ path: ":memory:", now: () => now });
  await journal.enqueue(message("command-a"));
  await journal.deliveries.drop(1);
  now += 8 * DAY_MS - 1;
  await journal.deliveries.tidy();
  assertEquals(journal.hasMessage("command-a"), true);
  assertEquals(await journal.enqueue(message("command-a")), false);
  await journal.close();
});

Deno.test("enqueue() is not undone by the deletion of the session", async () => {
  const journal = openJournal({ path: ":memory:" });
  await begin(journal, "a");
  await journal.enqueue(message("m"));
  await journal.end("a", ending());
  await journal.deleteSession("test:a");
  assertEquals(idsOf(journal), ["m"]);
  await journal.close();
});

Deno.test("W1 enqueue() resolves with the message on the disk", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    const journal = openJournal({ path });
    await journal.enqueue(message("m"));
    crashCopy(path, `${folder}/copy.db`);
    await journal.close();
    const copy = openJournal({ path: `${folder}/copy.db` });
    assertEquals(idsOf(copy), ["m"]);
    assertEquals(await copy.enqueue(message("m")), false);
    await copy.close();
  }));

Deno.test("enqueue() and outbox() refuse what they cannot use", async () => {
  const journal = openJournal({ path: ":memory:" });
  for (const name of ["id", "turnId", "channel", "chatId"] as const) {
    for (const value of ["", "a\0b", "\udc00"]) {
      const wrong = message("m", { [name]: value });
      const error = await assertRejects(() => journal.enqueue(wrong), ServiceError);
      assertEquals([error.code, error.details.param], ["invalid_request", name]);
    }
  }
  assertThrows(() => journal.outbox(-1, 1), ServiceError, `"afterRowid"`);
  assertThrows(() => journal.outbox(0, 0), ServiceError, `"limit"`);
  assertEquals(journal.outbox(0, 10), []);
  await journal.close();
});
