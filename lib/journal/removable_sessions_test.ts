import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import type { Journal } from "../contract/journal.ts";
import type { Removable } from "../contract/retention.ts";
import { openJournal } from "./open.ts";
import {
  begin,
  crashCopy,
  ending,
  hash,
  newTurn,
  text,
  withFiles,
  withFolder,
} from "./testing/steps.ts";

const DAY_MS = 86_400_000;

/** A journal whose clock the test sets. */
function openAt(path = ":memory:") {
  const clock = { now: 1_000_000_000_000 };
  const freed: string[] = [];
  const journal = openJournal({
    path,
    now: () => clock.now,
    onFilesFree: (sha256s) => void freed.push(...sha256s),
  });
  return { journal, clock, freed };
}

async function ended(journal: Journal, sessionKey: string, id = sessionKey): Promise<void> {
  await begin(journal, id, { sessionKey });
  await journal.append(id, [text("words")]);
  await journal.end(id, ending());
}

async function listed(journal: Journal): Promise<Removable[]> {
  const found: Removable[] = [];
  let after: string | undefined;
  do {
    const page = await journal.retention.page(after);
    found.push(...page.items);
    after = page.after;
  } while (after !== undefined);
  return found;
}

const namesOf = (items: readonly Removable[]) => items.map(({ name }) => name);

Deno.test("retention lists sessions in pages, the longest unchanged first, and none of the last 8 days", async () => {
  const { journal, clock } = openAt();
  const keys = Array.from({ length: 120 }, (_, at) => `test:${at}`);
  for (const key of keys) {
    await ended(journal, key);
    clock.now += DAY_MS / 20;
  }
  assertEquals(namesOf(await listed(journal)), []);
  clock.now += 8 * DAY_MS;
  const found = await listed(journal);
  assertEquals(namesOf(found), keys);
  assertEquals(found.map(({ at }) => at), found.map(({ at }) => at).sort((a, b) => a - b));
  await ended(journal, "test:0", "again");
  assertEquals(namesOf(await listed(journal)), keys.slice(1));
  await journal.close();
});

Deno.test("retention knows about how much room a session takes", () =>
  withFolder(async (folder) => {
    const { journal, clock } = openAt(`${folder}/a.db`);
    await ended(journal, "test:small");
    const before = await journal.retention.usedBytes();
    for (let n = 0; n < 300; n++) {
      await begin(journal, `big-${n}`, { sessionKey: "test:big" });
      await journal.append(`big-${n}`, [text("a long answer ".repeat(60))]);
      await journal.addMessage(`big-${n}`, {
        role: "assistant",
        text: "a long answer ".repeat(60),
        calls: [],
      });
      await journal.end(`big-${n}`, ending());
    }
    const took = await journal.retention.usedBytes() - before;
    clock.now += 30 * DAY_MS;
    const [small, big] = await listed(journal);
    assert(small!.bytes < 2_000, `${small!.bytes}`);
    assert(big!.bytes > took * 0.7 && big!.bytes < took * 1.3, `${big!.bytes} of ${took}`);
    await journal.close();
  }));

/** Each makes a session `test:needed` that something needs, whatever its age. */
const NEEDS: Record<string, (journal: Journal) => Promise<unknown>> = {
  "an open turn": async (journal) => {
    await ended(journal, "test:needed");
    await journal.accept(newTurn("open", { sessionKey: "test:needed" }));
  },
  "an undelivered message": async (journal) => {
    await ended(journal, "test:needed");
    const message = { id: "m", turnId: "test:needed", channel: "irc", chatId: "a", content: "hi" };
    await journal.enqueue(message);
  },
  "an answer that was not handed over": async (journal) => {
    const delivery = { runtimeName: "irc", chatId: "a", metadata: {}, streaming: false };
    await journal.accept(newTurn("t", { sessionKey: "test:needed" }), { delivery });
    await journal.start("t");
    await journal.end("t", ending());
  },
  "a pin": async (journal) => {
    await ended(journal, "test:needed");
    assertEquals((await journal.pinSession("test:needed", true))!.pinned, true);
  },
};

for (const [need, make] of Object.entries(NEEDS)) {
  Deno.test(`retention never takes a session with ${need}, nor its files`, async () => {
    const { journal, clock } = openAt();
    await ended(journal, "test:other");
    await make(journal);
    await journal.accept(newTurn("files", { sessionKey: "test:needed", input: withFiles("a") }));
    await journal.end("files", ending());
    clock.now += 365 * DAY_MS;
    assertEquals(namesOf(await listed(journal)), ["test:other"]);
    const { updatedAt: at } = journal.session("test:needed")!;
    assertEquals(await journal.retention.remove([{ name: "test:needed", bytes: 1, at }]), []);
    assertEquals([journal.needsFile(hash("a")), journal.needsFile(hash("b"))], [true, false]);
    await journal.close();
  });
}

Deno.test("retention never takes a session while somebody reads it", async () => {
  const { journal, clock } = openAt();
  await ended(journal, "test:read");
  clock.now += 365 * DAY_MS;
  const reader = journal.followKey("test:read", { afterSeq: 0 })[Symbol.asyncIterator]();
  while ((await reader.next()).value!.event.type !== "turn_end");
  const waiting = reader.next();
  assertEquals(namesOf(await listed(journal)), []);
  await reader.return!();
  await waiting;
  assertEquals(namesOf(await listed(journal)), ["test:read"]);
  await journal.close();
});

Deno.test("retention keeps the session of an automation until the automation is gone", async () => {
  const { journal, clock } = openAt();
  await ended(journal, "automation:aut_a");
  const spec = {
    name: "News",
    message: "hi",
    schedule: { every: 3_600 },
    missed: "once",
    tokenBudget: 1_000,
    maxSteps: 1,
    retries: 0,
    overlap: "skip",
    enabled: false,
  } as const;
  const counts = { revision: 1, cursor: 0, missed: 0, overlapped: 0 };
  await journal.automations.create({ id: "aut_a", spec, createdAt: 0, ...counts });
  clock.now += 365 * DAY_MS;
  assertEquals(namesOf(await listed(journal)), []);
  await journal.automations.remove("aut_a");
  assertEquals(namesOf(await listed(journal)), ["automation:aut_a"]);
  await journal.close();
});

Deno.test("retention leaves a session that was used, or came to be needed, since it was listed", async () => {
  const { journal, clock } = openAt();
  for (const key of ["test:a", "test:b", "test:c"]) await ended(journal, key);
  clock.now += 365 * DAY_MS;
  const items = await listed(journal);
  await ended(journal, "test:a", "again");
  await journal.pinSession("test:b", true);
  assertEquals(namesOf(await journal.retention.remove(items)), ["test:c"]);
  assertEquals(journal.sessions({ limit: 9 }).map(({ key }) => key), ["test:a", "test:b"]);
  await journal.close();
});

Deno.test("retention frees files and room, and a crash in the middle is made up for at the next start", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    const { journal, clock, freed } = openAt(path);
    for (const key of ["test:a", "test:b", "test:c"]) {
      await journal.accept(newTurn(key, { sessionKey: key, input: withFiles(key.at(-1)!) }));
      await journal.append(key, [text("words ".repeat(20_000))]).catch(() => {});
      await journal.end(key, ending());
    }
    clock.now += 365 * DAY_MS;
    const items = await listed(journal);
    assertEquals(items.length, 3);
    const removing = journal.retention.remove(items.slice(0, 2));
    // The keys are gone and the rows are not.
    while (journal.session("test:a") !== undefined) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    const copy = `${folder}/crashed.db`;
    crashCopy(path, copy);
    await removing;
    assertEquals(freed.sort(), [hash("a"), hash("b")]);
    await journal.close();

    const again = openJournal({ path: copy, onFilesFree: (files) => void freed.push(...files) });
    await again.recover();
    assertEquals(again.sessions({ limit: 9 }).map(({ key }) => key), ["test:c"]);
    await again.close();
    const db = new DatabaseSync(copy);
    assertEquals(db.prepare("SELECT count(*) AS n FROM turns").get()!.n, 1);
    assertEquals(db.prepare("PRAGMA freelist_count").get()!.freelist_count, 0);
    db.close();
  }));
