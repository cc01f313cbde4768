import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { openDatabase } from "./database.ts";
import { createEpochs } from "./epochs.ts";
import { MIGRATIONS } from "./migrations/migrations.ts";
import { openJournal } from "./open.ts";
import { crashCopy, withFolder } from "./testing/steps.ts";

Deno.test("epoch() stays over a clean close, and is another one after a crash", () =>
  withFolder(async (folder) => {
    const path = `${folder}/journal.db`;
    const first = openJournal({ path });
    const before = first.epoch("websocket:a");
    assertMatch(before, /^[0-9a-f]{12}\.0$/);
    assertEquals(first.epoch("websocket:b"), before);
    await first.say({ id: "m", sessionKey: "websocket:a", text: "hi" });
    assertEquals(first.epoch("websocket:a"), before);
    crashCopy(path, `${folder}/crashed.db`);
    await first.close();

    const again = openJournal({ path });
    assertEquals(again.epoch("websocket:a"), before);
    await again.close();

    const crashed = openJournal({ path: `${folder}/crashed.db` });
    const after = crashed.epoch("websocket:a");
    assertNotEquals(after, before);
    assertEquals(crashed.epoch("websocket:b"), after);
    await crashed.close();
    const calm = openJournal({ path: `${folder}/crashed.db` });
    assertEquals(calm.epoch("websocket:a"), after);
    await calm.close();

    const other = openJournal({ path: `${folder}/other.db` });
    assertNotEquals(other.epoch("websocket:a"), before);
    await other.close();
  }));

Deno.test("epoch() is another one for a chat that was deleted, and for no other", () =>
  withFolder(async (folder) => {
    const path = `${folder}/journal.db`;
    let journal = openJournal({ path });
    const untouched = journal.epoch("websocket:b");
    const seen = [journal.epoch("websocket:a")];
    for (let n = 0; n < 3; n++) {
      await journal.say({ id: `m${n}`, sessionKey: "websocket:a", text: "hi" });
      assertEquals(journal.epoch("websocket:a"), seen.at(-1));
      await journal.deleteSession("websocket:a");
      seen.push(journal.epoch("websocket:a"));
      await journal.close();
      journal = openJournal({ path });
      assertEquals(journal.epoch("websocket:a"), seen.at(-1));
    }
    assertEquals(new Set(seen).size, 4);
    assertEquals(await journal.deleteSession("websocket:none"), false);
    assertEquals(journal.epoch("websocket:none"), untouched);
    assertEquals(journal.epoch("websocket:b"), untouched);
    await journal.close();
  }));

Deno.test("deleted() keeps a bounded number of keys, and what it forgets counts as changed", () => {
  const db = openDatabase(":memory:", MIGRATIONS);
  const epochs = createEpochs(db, { maxDeletedKeys: 3 });
  const before = epochs.of("kept");
  for (const [id, key] of ["a", "b", "c"].entries()) epochs.deleted(key, id + 1);
  assertEquals(epochs.of("kept"), before);
  const ofA = epochs.of("a");
  epochs.deleted("d", 4);
  assertEquals(db.prepare("SELECT count(*) AS n FROM deleted_keys").get()!.n, 0);
  for (const [key, old] of [["kept", before], ["a", ofA], ["d", before]]) {
    assertNotEquals(epochs.of(key!), old);
  }
  db.close();
});
