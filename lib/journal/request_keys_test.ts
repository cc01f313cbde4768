import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import type { AgentEvent, TurnStatus } from "../contract/events.ts";
import { ServiceError } from "../base/errors.ts";
import { openJournal } from "./open.ts";
import { begin, crashCopy, ending, newTurn, requestKey, withFolder } from "./testing/steps.ts";
import type { Journal } from "../contract/journal.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

const withKey = (journal: Journal, id: string, key = requestKey("k")) =>
  journal.accept(newTurn(id), { requestKey: key });

function assertConflict(error: ServiceError): void {
  assertEquals(error.code, "idempotency_conflict");
  assertEquals(error.details.param, "Idempotency-Key");
}

Deno.test("accept() with a key that is on record returns its turn and writes nothing", async () => {
  const journal = openJournal({ path: ":memory:" });
  assertEquals(journal.repeated(requestKey("k")), undefined);
  const first = await withKey(journal, "a");
  assertEquals([first.turn.id, first.repeated], ["a", false]);
  for (const state of ["queued", "running", "done"] as const) {
    if (state === "running") await journal.start("a");
    if (state === "done") await journal.end("a", ending());
    const again = await withKey(journal, "b");
    assertEquals([again.turn.id, again.turn.status, again.repeated], ["a", state, true]);
    assertEquals(journal.repeated(requestKey("k")), again.turn);
  }
  assertEquals(journal.turn("b"), undefined);
  assertEquals(journal.session("test:a")!.turns, 1);
  await journal.close();
});

Deno.test("accept() at once with one key opens one turn", async () => {
  const journal = openJournal({ path: ":memory:" });
  const results = await Promise.all(
    ["a", "b", "c"].map((id) => withKey(journal, id)),
  );
  assertEquals(results.map(({ turn, repeated }) => [turn.id, repeated]), [
    ["a", false],
    ["a", true],
    ["a", true],
  ]);
  assertEquals(journal.counts().openTurns, 1);
  await journal.close();
});

Deno.test("accept() at once gives a key to the next one when the write of the first fails", async () => {
  // In the batch, and when it is tried alone.
  let failures = 0;
  const journal = openJournal({
    path: ":memory:",
    now: () => {
      if (failures-- > 0) throw new Error("no time");
      return 1_000;
    },
  });
  failures = 2;
  const [first, second, third] = await Promise.allSettled(
    ["a", "b", "c"].map((id) => withKey(journal, id)),
  );
  assertEquals(first?.status, "rejected");
  assert(second?.status === "fulfilled" && third?.status === "fulfilled");
  assertEquals([second.value.repeated, third.value.repeated], [false, true]);
  assertEquals(journal.repeated(requestKey("k"))?.id, "b");
  assertEquals(journal.session("test:a")!.turns, 1);
  await journal.close();
});

Deno.test("accept() and repeated() refuse a key that another request has used", async () => {
  const journal = openJournal({ path: ":memory:" });
  await withKey(journal, "a");
  const other = requestKey("k", "another body");
  assertConflict(await assertRejects(() => withKey(journal, "b", other), ServiceError));
  assertConflict(assertThrows(() => journal.repeated(other), ServiceError));
  const [, conflict] = await Promise.allSettled([
    withKey(journal, "c", requestKey("l")),
    withKey(journal, "d", requestKey("l", "another body")),
  ]);
  assertConflict((conflict as PromiseRejectedResult).reason);
  assertEquals(journal.session("test:a")!.turns, 2);
  await journal.close();
});

Deno.test("repeated() keeps scopes and keys apart", async () => {
  const journal = openJournal({ path: ":memory:" });
  await withKey(journal, "a");
  for (const changes of [{ scope: "someone else" }, { key: "K" }, { key: "k " }, { key: "k%" }]) {
    const other = { ...requestKey("k"), ...changes };
    assertEquals(journal.repeated(other), undefined);
    assertEquals((await withKey(journal, JSON.stringify(changes), other)).repeated, false);
  }
  await journal.close();
});

Deno.test("W2 accept() knows a key for 8 days, and not after them", async () => {
  let time = 1_000;
  const journal = openJournal({ path: ":memory:", now: () => time });
  await withKey(journal, "a");
  time += 8 * DAY_MS - 1;
  assertEquals((await withKey(journal, "b")).repeated, true);
  assertConflict(assertThrows(() => journal.repeated(requestKey("k", "x")), ServiceError));
  time += 1;
  assertEquals(journal.repeated(requestKey("k")), undefined);
  assertEquals(journal.repeated(requestKey("k", "x")), undefined);
  assertEquals((await withKey(journal, "c", requestKey("k", "x"))).repeated, false);
  assertEquals(journal.repeated(requestKey("k", "x"))?.id, "c");
  await journal.close();
});

Deno.test("accept() removes keys that have expired, some at a time, and no others", () =>
  withFolder(async (folder) => {
    let time = 1_000;
    const path = `${folder}/a.db`;
    const journal = openJournal({ path, now: () => time });
    const keysOf = () => {
      const db = new DatabaseSync(path, { readOnly: true });
      const { n } = db.prepare("SELECT count(*) AS n FROM request_keys").get()!;
      db.close();
      return n as number;
    };
    await Promise.all(
      Array.from({ length: 100 }, (_, n) => withKey(journal, `old${n}`, requestKey(`old${n}`))),
    );
    time += DAY_MS;
    await withKey(journal, "young", requestKey("young"));
    time += 7 * DAY_MS;
    let before = keysOf();
    for (let n = 0; n < 20; n++) {
      await withKey(journal, `new${n}`, requestKey(`new${n}`));
      const after = keysOf();
      assert(before + 1 - after <= 8, `${before - after} rows in one write`);
      before = after;
    }
    assertEquals(before, 21);
    assertEquals(journal.repeated(requestKey("young"))?.id, "young");
    await journal.close();
  }));

/** What a turn did before it ended, whether its key is free then. */
const ENDS: [what: string, events: AgentEvent[], status: TurnStatus, free: boolean][] = [
  ["nothing", [], "cancelled", true],
  ["a refused call", [toolCall(), toolResult("refused")], "cancelled", true],
  ["a call", [toolCall(), toolResult("ok")], "cancelled", false],
  ["a call that failed", [toolCall(), toolResult("failed")], "cancelled", false],
  ["a call that goes on", [toolCall()], "cancelled", false],
  ["nothing", [], "done", false],
  ["nothing", [], "failed", false],
  ["nothing", [], "timed_out", false],
];

function toolCall(): AgentEvent {
  return { type: "tool_call", callId: "c", tool: "t", args: {}, hint: "t" };
}

function toolResult(status: "ok" | "failed" | "refused"): AgentEvent {
  return { type: "tool_result", callId: "c", tool: "t", status, output: "" };
}

for (const [what, events, status, free] of ENDS) {
  Deno.test(`end() as ${status} after ${what} ${free ? "frees" : "keeps"} the key`, async () => {
    const journal = openJournal({ path: ":memory:" });
    await withKey(journal, "a");
    await journal.start("a");
    await journal.append("a", events);
    await journal.end("a", ending(status, true));
    assertEquals(journal.repeated(requestKey("k"))?.id, free ? undefined : "a");
    assertEquals((await withKey(journal, "b")).repeated, !free);
    await journal.close();
  });
}

Deno.test("end() as cancelled of a turn that never ran frees the key, for another request too", async () => {
  const journal = openJournal({ path: ":memory:" });
  await withKey(journal, "a");
  // In one batch: the key is free for what comes after the end.
  const [, again] = await Promise.all([
    journal.end("a", ending("cancelled", true)),
    withKey(journal, "b", requestKey("k", "another body")),
  ]);
  assertEquals(again.repeated, false);
  await journal.close();
});

Deno.test("deleteSession() frees the keys of its turns at once", async () => {
  const journal = openJournal({ path: ":memory:" });
  await withKey(journal, "a");
  await journal.end("a", ending());
  const deleted = journal.deleteSession("test:a");
  const again = withKey(journal, "b", requestKey("k", "another body"));
  assertEquals((await again).repeated, false);
  assertEquals(await deleted, true);
  // The rows that went are not those of the new turn.
  assertEquals(journal.repeated(requestKey("k", "another body"))?.id, "b");
  await journal.close();
});

Deno.test("recover() keeps the key of a turn that a crash cut off", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    const journal = openJournal({ path });
    await withKey(journal, "a");
    await journal.start("a");
    crashCopy(path, `${folder}/copy.db`);
    await journal.close();
    const copy = openJournal({ path: `${folder}/copy.db` });
    assertEquals((await copy.recover()).interrupted, 1);
    assertEquals(copy.repeated(requestKey("k"))?.status, "interrupted");
    await copy.close();
  }));

Deno.test("accept() refuses a key that SQLite would not keep", async () => {
  const journal = openJournal({ path: ":memory:" });
  for (const name of ["scope", "key", "digest"] as const) {
    for (const value of ["", "a\0b", "\ud800"]) {
      const key = { ...requestKey("k"), [name]: value };
      const error = await assertRejects(() => withKey(journal, "a", key), ServiceError);
      assertEquals([error.code, error.details.param], ["invalid_request", name]);
      assertThrows(() => journal.repeated(key), ServiceError, `"${name}"`);
    }
  }
  assertEquals(journal.turn("a"), undefined);
  await begin(journal, "a");
  await journal.close();
});
