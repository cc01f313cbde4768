import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import type { NewIntakeRow } from "../contract/intake_store.ts";
import { openDatabase } from "./database.ts";
import { IntakeRows, JournalIntake } from "./intake.ts";
import { MIGRATIONS } from "./migrations/migrations.ts";
import { openJournal } from "./open.ts";
import { withFolder } from "./testing/steps.ts";
import { Writer } from "./writer.ts";

const row = (lane: string, id: string, data = `"${lane}${id}"`): NewIntakeRow => ({
  lane,
  id,
  data,
});

Deno.test("intake() keeps rows and cursors of each channel apart, over a restart", () =>
  withFolder(async (folder) => {
    const path = `${folder}/service.db`;
    const first = openJournal({ path, now: () => 1_000.5 });
    const [irc, xmpp] = [first.intake("irc"), first.intake("xmpp")];
    assert(first.intake("irc") === irc);
    await irc.add([row("a", "1"), row("a", "1", `"again"`), row("b", "1")], { seen: "7" });
    await xmpp.add([row("a", "1", `"of another"`)], { seen: "8" });
    await irc.add([row("a", "2")], { seen: "9", more: "1" });
    await first.close();

    const second = openJournal({ path });
    const again = second.intake("irc");
    assertEquals(await again.state(), { lanes: ["a", "b"], cursors: { seen: "9", more: "1" } });
    const one = await again.next("a");
    assertEquals(one, { lane: "a", id: "1", data: `"a1"`, seq: one!.seq, addedAt: 1_000 });
    const two = await again.next("a", one!.seq);
    assertEquals(two!.id, "2");
    // One that was removed before, by whoever, takes no other along.
    assertEquals((await again.next("a", one!.seq))!.id, "2");
    await again.move("a", two!.seq, "a!");
    assertEquals([await again.next("a"), (await again.next("a!"))!.seq], [undefined, two!.seq]);
    await again.add([row("c", "1")], {});
    assertEquals((await again.state()).lanes, ["b", "a!", "c"]);
    assertEquals((await second.intake("xmpp").next("a"))!.data, `"of another"`);
    await second.close();
  }));

Deno.test("intake() tells a row of a lane by its id for as long as it waits", () =>
  withFolder(async (folder) => {
    const journal = openJournal({ path: `${folder}/service.db` });
    const intake = journal.intake("irc");
    await intake.add([row("a", "1")], {});
    await intake.add([row("a", "1", `"another"`), row("a", "2")], {});
    const first = await intake.next("a");
    assertEquals(first!.data, `"a1"`);
    assertEquals((await intake.next("a", first!.seq))!.id, "2");
    await intake.add([row("a", "1")], {});
    assertEquals((await intake.state()).lanes, ["a"]);
    await journal.close();
  }));

/** With the intake of a channel that has little room. */
async function withRoom(
  limits: { rows: number; bytes: number },
  run: (intake: JournalIntake) => Promise<void>,
): Promise<void> {
  const db = openDatabase(":memory:", MIGRATIONS);
  const writer = new Writer(db);
  await run(new JournalIntake(new IntakeRows(db, Date.now), writer, "irc", limits));
  writer.close();
  db.close();
}

for (
  const [what, limits] of Object.entries({
    rows: { rows: 2, bytes: 1_000 },
    bytes: { rows: 1_000, bytes: 1_000 },
  })
) {
  Deno.test(`intake().add() waits while as many ${what} wait as may`, () =>
    withRoom(limits, async (intake) => {
      // Two bytes each.
      const big = (lane: string) => row(lane, "1", "ü".repeat(300));
      await intake.add([big("a"), big("b")], { at: "1" });
      const steps: string[] = [];
      const adding = intake.add([big("c")], { at: "2" }).then(() => void steps.push("added"));
      // Cursors alone need no room.
      await intake.add([], { at: "1a" });
      assertEquals((await intake.state()).cursors, { at: "1a" });
      const waits = await intake.next("a");
      steps.push("next");
      await intake.next("a", waits!.seq);
      await adding;
      assertEquals(steps, ["next", "added"]);
      assertEquals((await intake.state()).cursors, { at: "2" });
    }));
}

Deno.test("a row of an intake is gone from the file when it was taken", () =>
  withFolder(async (folder) => {
    const path = `${folder}/service.db`;
    const journal = openJournal({ path });
    const intake = journal.intake("irc");
    await intake.add([row("a", "1", `"a word that nobody finds"`)], {});
    await intake.next("a", (await intake.next("a"))!.seq);
    await journal.close();
    using database = new DatabaseSync(path);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    const text = new TextDecoder().decode(await Deno.readFile(path));
    assertEquals(text.includes("a word that nobody finds"), false);
  }));
