import { assertEquals, assertNotEquals } from "@std/assert";
import { openJournal } from "../journal/open.ts";
import { newTurn } from "../journal/testing/steps.ts";
import { attemptKey, runNowKey, slotKey } from "./slot_key.ts";

const SLOT = Date.parse("2026-03-01T08:00:00Z");

Deno.test("slotKey() opens one turn in a journal for one automation and instant (W4)", async () => {
  const journal = openJournal({ path: ":memory:" });
  const accept = async (id: string, requestKey: ReturnType<typeof slotKey>) =>
    (await journal.accept(newTurn(id), { requestKey })).turn.id;
  assertEquals(await accept("a", slotKey("news", SLOT)), "a");
  assertEquals(await accept("b", slotKey("news", SLOT)), "a");
  assertEquals(await accept("c", slotKey("news", SLOT + 60_000)), "c");
  assertEquals(await accept("d", slotKey("mail", SLOT)), "d");
  assertEquals(await accept("e", attemptKey(slotKey("news", SLOT), 2)), "e");
  assertEquals(await accept("f", runNowKey("news", "request")), "f");
  assertEquals(await accept("g", runNowKey("news", "request")), "f");
  assertEquals(await accept("h", attemptKey(slotKey("news", SLOT), 1)), "a");
  await journal.close();
});

Deno.test("attemptKey() never meets the key of a request, whatever that is called", () => {
  const second = attemptKey(runNowKey("news", "r"), 2);
  for (const requestId of ["r#2", "r%20#2"]) {
    assertNotEquals(second.key, attemptKey(runNowKey("news", requestId), 1).key);
  }
});

Deno.test("slotKey() and runNowKey() never meet", () => {
  const { scope, key } = slotKey("news", SLOT);
  assertEquals([scope, key], ["automation:news", "slot:2026-03-01T08:00:00.000Z"]);
  assertNotEquals(runNowKey("news", key).key, key);
  assertNotEquals(slotKey("a", SLOT).digest, slotKey("b", SLOT).digest);
});
