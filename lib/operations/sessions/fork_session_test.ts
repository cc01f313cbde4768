import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../../base/errors.ts";
import { openJournal } from "../../journal/open.ts";
import { ending, newTurn } from "../../journal/testing/steps.ts";
import { forkSession } from "./fork_session.ts";

async function journalWith(sessionKey: string) {
  const journal = openJournal({ path: ":memory:" });
  await journal.accept(newTurn("a", { sessionKey }));
  await journal.end("a", ending());
  return journal;
}

Deno.test("forkSession() takes the first free key after the source's, also for forks at once", async () => {
  const journal = await journalWith("cli:a");
  const fork = () => forkSession(journal, { sourceKey: "cli:a", beforeUserIndex: 1 });
  const made = await Promise.all([fork(), fork(), fork()]);
  assertEquals(made.map(({ key }) => key).sort(), ["cli:a-2", "cli:a-3", "cli:a-4"]);
  await journal.deleteSession("cli:a-3");
  assertEquals((await fork()).key, "cli:a-3");
  await journal.close();
});

Deno.test("forkSession() keeps a name within bounds, takes one that is given, and passes errors on", async () => {
  const long = `api:${"x".repeat(128)}`;
  const journal = await journalWith(long);
  const { key } = await forkSession(journal, { sourceKey: long, beforeUserIndex: 1 });
  assertEquals(key, `${long.slice(0, 120)}-2`);
  const named = { sourceKey: long, targetKey: "cli:mine", beforeUserIndex: 0 };
  assertEquals((await forkSession(journal, named)).key, "cli:mine");
  await assertRejects(() => forkSession(journal, named), ServiceError, "exists already");
  const beyond = { sourceKey: long, beforeUserIndex: 2 };
  await assertRejects(() => forkSession(journal, beyond), ServiceError, "from 0 to 1");
  await journal.close();
});
