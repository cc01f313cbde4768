import { assert, assertEquals, assertFalse } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { DeltaLog, type EventSource } from "./delta_log.ts";
import { encodeEvent } from "./event_rows.ts";
import { migrate } from "../base/migrate.ts";
import { MIGRATIONS } from "./migrations/migrations.ts";
import { text } from "./testing/steps.ts";

const LIMITS = { tailDeltas: 3, tailChars: 20, logRows: 3, logChars: 500 };
const SOURCE: EventSource = { turn: 1, id: "turn-1", sessionId: 1 };

function setUp() {
  const db = new DatabaseSync(":memory:");
  migrate(db, MIGRATIONS, ":memory:");
  db.exec(
    `INSERT INTO sessions (id, key, title, created_at, updated_at, turns) VALUES (1, 'test:a', '', 0, 0, 1);
    INSERT INTO turns (turn, id, session_id, channel, actor, durable, status, attempts, after_seq,
      accepted_at) VALUES (1, 'turn-1', 1, 'test', 'test:local', 0, 'running', 1, 0, 0)`,
  );
  const log = new DeltaLog(db, LIMITS);
  let seq = 0;
  return {
    log,
    /** Adds in a batch; returns the tails that are to be rows. */
    batch(...texts: string[]) {
      for (const piece of texts) log.add(SOURCE, encodeEvent(text(piece)), ++seq);
      return [...log.beforeCommit()].map(({ from, to, bodies }) => ({ from, to, bodies }));
    },
    continues: (piece: string, streamId?: string, source = SOURCE) =>
      log.continues(source, encodeEvent(text(piece, streamId))),
    rows: () => db.prepare("SELECT body FROM delta_log").all().map(({ body }) => body),
  };
}

Deno.test("DeltaLog writes a row a batch, with what is new in it", () => {
  const { batch, rows } = setUp();
  batch("a", "b");
  batch();
  batch("c");
  assertEquals(rows(), [
    '[[1,1,"text_delta","s",1,["a","b"]]]',
    '[[1,1,"text_delta","s",3,["c"]]]',
  ]);
});

Deno.test("DeltaLog lets a tail grow up to its bounds, by one stream of one turn", () => {
  const { batch, continues } = setUp();
  assertFalse(continues("a"));
  batch("a");
  assert(continues("b"));
  assertFalse(continues("b", "other"));
  assertFalse(continues("b", "s", { ...SOURCE, turn: 2 }));
  // With the quotes of its JSON: 3 + 17 characters.
  assert(continues("x".repeat(15)));
  assertFalse(continues("x".repeat(16)));
  batch("b", "c");
  assertFalse(continues("d"));
});

Deno.test("DeltaLog empties the log at its bounds and hands out the tails", () => {
  const { batch, rows, log } = setUp();
  for (const piece of ["a", "b", "c"]) assertEquals(batch(piece), []);
  assertEquals(batch("d"), [{ from: 1, to: 4, bodies: ['"a"', '"b"', '"c"', '"d"'] }]);
  assertEquals(rows(), []);
  assertEquals(log.tail(1), undefined);
  batch("x".repeat(600));
  assertEquals(batch("y")[0]?.to, 6);
  assertEquals(rows(), []);
});

Deno.test("forget() makes the same tails again, and they go on from there", () => {
  const { batch, log, rows } = setUp();
  batch("a");
  batch("b");
  log.forget();
  const { from, to, bodies, logged } = log.tail(1)!;
  assertEquals({ from, to, bodies, logged }, { from: 1, to: 2, bodies: ['"a"', '"b"'], logged: 2 });
  batch("c");
  assertEquals(rows().at(-1), '[[1,1,"text_delta","s",3,["c"]]]');
  log.forget();
  assertEquals(log.tail(1)?.bodies, ['"a"', '"b"', '"c"']);
});

Deno.test("forget() drops what was not committed", () => {
  const { batch, log } = setUp();
  batch("a");
  log.add(SOURCE, encodeEvent(text("lost")), 2);
  log.forget();
  assertEquals(log.tail(1)?.bodies, ['"a"']);
});

Deno.test("take() leaves nothing of a tail for the log", () => {
  const { batch, log, rows } = setUp();
  log.add(SOURCE, encodeEvent(text("a")), 1);
  assertEquals(log.take(1)?.bodies, ['"a"']);
  batch();
  assertEquals(rows(), []);
  assertEquals(log.take(1), undefined);
});
