import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import type { MissedMessage } from "../contract/journal.ts";
import { MAX_MISSED } from "./missed_messages.ts";
import { openJournal } from "./open.ts";
import { withFolder } from "./testing/steps.ts";
import type { Journal } from "../contract/journal.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const message = (changes: Partial<MissedMessage> = {}): MissedMessage => ({
  runtimeName: "irc",
  chatId: "#a",
  senderId: "ann",
  content: "hello",
  files: [],
  streaming: false,
  sentAt: 1_000,
  ...changes,
});

/** Tells a chat; gives how many it was told of, 0 for nothing. */
async function tell({ missed }: Journal, chatId = "#a"): Promise<number> {
  let told = 0;
  await missed.tell({ runtimeName: "irc", chatId, quietMs: HOUR_MS }, ({ count }) => {
    told = count;
    return { id: `missed-${crypto.randomUUID()}`, content: `${count} messages` };
  });
  return told;
}

Deno.test("MissedMessages lists a message once by its name, also when it was dealt with, and after a restart", () =>
  withFolder(async (folder) => {
    const path = `${folder}/journal.db`;
    let now = 5_000;
    let journal = openJournal({ path, now: () => now });
    assertEquals(await journal.missed.add(message({ content: "one" }), "n1"), true);
    assertEquals(await journal.missed.add(message({ content: "edited" }), "n1"), false);
    assertEquals(await journal.missed.add(message({ runtimeName: "irc.b" }), "n2"), true);
    // Nothing tells a repeat of these.
    await journal.missed.add(message({ content: "two" }));
    await journal.missed.add(message({ content: "two" }));
    await journal.close();

    journal = openJournal({ path, now: () => now });
    const { missed } = journal;
    assertEquals(missed.list("irc", 0, 9).map(({ rowid, content }) => [rowid, content]), [
      [1, "one"],
      [3, "two"],
      [4, "two"],
    ]);
    assertEquals(missed.list(undefined, 1, 2).map(({ rowid }) => rowid), [2, 3]);
    assertEquals(missed.find(2)?.runtimeName, "irc.b");
    assertEquals([await missed.remove(1), await missed.remove(1), missed.find(1)], [
      true,
      false,
      undefined,
    ]);
    assertEquals([missed.has("n1"), await missed.add(message(), "n1")], [true, false]);
    assertEquals([await missed.clear("irc"), missed.count("irc"), missed.count("irc.b")], [
      2,
      0,
      1,
    ]);
    assertEquals([await missed.clear(), missed.list(undefined, 0, 9)], [1, []]);
    assertEquals(missed.has("n2"), true);
    now += 31 * DAY_MS;
    await journal.deliveries.tidy();
    assertEquals(missed.has("n2"), false);
    await journal.close();
  }));

Deno.test("MissedMessages keeps the newest of a runtime name, and none for longer than 30 days", async () => {
  let now = 5_000;
  const journal = openJournal({ path: ":memory:", now: () => now });
  const { missed } = journal;
  await missed.add(message({ runtimeName: "email" }), "other");
  await Promise.all(
    Array.from({ length: MAX_MISSED + 5 }, (_, at) => missed.add(message(), `n${at}`)),
  );
  await tell(journal);
  assertEquals([missed.count("irc"), missed.has("n4"), missed.has("n5")], [
    MAX_MISSED,
    false,
    true,
  ]);
  assertEquals(missed.count("email"), 1);
  now += 30 * DAY_MS;
  assertEquals([missed.list(undefined, 0, 9), missed.count("irc")], [[], 0]);
  await journal.close();
});

Deno.test("MissedMessages tells a chat once of all that it was not told, and again after an hour", async () => {
  let now = 5_000_000;
  const journal = openJournal({ path: ":memory:", now: () => now });
  const { missed } = journal;
  assertEquals(await tell(journal), 0);
  await missed.add(message({ sentAt: 900, metadata: { thread: "t1" } }), "n1");
  await missed.add(message({ metadata: { thread: "t2" } }), "n2");
  await missed.add(message({ chatId: "#b" }), "n3");
  assertEquals(missed.untoldChats(9), [
    { runtimeName: "irc", chatId: "#a" },
    { runtimeName: "irc", chatId: "#b" },
  ]);
  assertEquals(await tell(journal), 2);
  const [row] = journal.outbox(0, 9);
  assertEquals([row!.channel, row!.chatId, row!.content, row!.metadata], [
    "irc",
    "#a",
    "2 messages",
    { thread: "t2" },
  ]);
  // Within the hour it is silent, and the silence makes that no longer.
  now += HOUR_MS - 1;
  await missed.add(message(), "n4");
  assertEquals(await tell(journal), 0);
  assertEquals(missed.untoldChats(9), [{ runtimeName: "irc", chatId: "#b" }]);
  now += 2;
  await missed.add(message(), "n5");
  assertEquals(await tell(journal), 1);
  // What was dealt with before is no news.
  await missed.clear();
  assertEquals([await tell(journal, "#b"), journal.outbox(0, 9).length], [0, 2]);
  await journal.close();
});

Deno.test("MissedMessages refuses what is too long, and leaves a chat untold while its queue is full", async () => {
  const journal = openJournal({ path: ":memory:" });
  const { missed } = journal;
  const metadata = { text: "x".repeat(64 * 1024) };
  const error = await assertRejects(() => missed.add(message({ metadata })), ServiceError);
  assertEquals(error.code, "invalid_request");
  for (let at = 0; at < 10; at++) {
    await Promise.all(
      Array.from(
        { length: 1_000 },
        (_, n) => journal.enqueue({ id: `${at}-${n}`, channel: "irc", chatId: "#a", content: "x" }),
      ),
    );
  }
  await missed.add(message());
  const full = await assertRejects(() => tell(journal), ServiceError);
  assertEquals([full.code, missed.untoldChats(9).length], ["overloaded", 1]);
  await journal.close();
});

Deno.test("a chat is told of what another one had too much of to leave room for", async () => {
  const journal = openJournal({ path: ":memory:", now: () => 5_000 });
  const { missed } = journal;
  await missed.add(message({ chatId: "#quiet", content: "once" }), "quiet");
  await Promise.all(
    Array.from({ length: 2 * MAX_MISSED }, (_, at) => missed.add(message(), `n${at}`)),
  );
  assertEquals(missed.count("irc"), MAX_MISSED);
  assertEquals(missed.untoldChats(9).map(({ chatId }) => chatId).toSorted(), ["#a", "#quiet"]);
  assertEquals([await tell(journal, "#quiet"), await tell(journal)], [1, 2 * MAX_MISSED]);
  // Of what is told, no more is kept than is listed.
  assertEquals(missed.has("n0"), false);
  assertEquals(missed.has(`n${2 * MAX_MISSED - 1}`), true);
  assertEquals(missed.count("irc"), MAX_MISSED);
  await journal.close();
});
