/**
 * That no statement does more work the longer a session is, or the more of them there are: each seeks
 * what it reads. What passes over more than that is named here, with what bounds it.
 */
import { assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { openDatabase } from "./database.ts";
import { MIGRATIONS } from "./migrations/migrations.ts";
import { openJournal } from "./open.ts";

/** Statements that scan, by how they begin, and why they may. */
const MAY_SCAN: Record<string, string> = {
  "SELECT id FROM turns INDEXED BY open_turns": "only turns that have not ended are in that index",
  "SELECT body FROM delta_log": "the log is emptied at a thousand rows",
  "SELECT count(*) FROM responses": "the index has 4,096 entries",
  "SELECT coalesce(sum(waiting), 0) FROM outbox_counts": "a row a runtime name",
  "UPDATE outbox INDEXED BY outbox_lanes":
    "only what waits is in that index, and once at the start",
  "SELECT count(*) FROM (SELECT 1 FROM automation_runs": "rows of the inner one, 200 at most",
  "SELECT count(*) FROM automations": "there are 1,000 at most",
  "SELECT count(*) FROM deleted_keys": "10,000 are remembered",
  "DELETE FROM responses WHERE turn = (SELECT turn FROM responses ORDER BY used LIMIT 1)":
    "along the index, to the first",
  "DELETE FROM request_keys WHERE turn IN": "along the table, to the eighth",
  "INSERT OR IGNORE INTO session_files (session_id, sha256) SELECT": "the parts of one message",
  "UPDATE missed_messages SET body = NULL, told_at = coalesce(told_at, 0) WHERE body":
    "1,000 a runtime name, and only when somebody asks for it",
  "SELECT t.session_id FROM channel_turns AS c":
    "what has not been delivered, once a page of retention",
  "SELECT count(*), coalesce(max(place), 0)": "5,000 rows a read",
  "SELECT rowid >> 32, rowid & 4294967295 FROM search WHERE search MATCH":
    "10,000 matches, when somebody searches",
  "SELECT DISTINCT runtime, chat_id FROM missed_messages INDEXED BY missed_untold":
    "only what nobody was told of is in that index, and once at the start",
  "SELECT coalesce(m.value ->> '$.model', '')": "the models of one turn",
};

/** Statements that pass over all of a session in a table that grows with it, and why they may. */
const MAY_PASS_OVER: Record<string, string> = {
  "SELECT max(seq) FROM events": "the end of the index",
  "SELECT id, (SELECT max(seq) FROM events": "the end of the index",
  "DELETE FROM events": "a thousand rows a write",
  "DELETE FROM messages": "a thousand rows a write",
  "DELETE FROM turns": "a thousand rows a write",
  "DELETE FROM inputs": "of a session that is being deleted",
  "SELECT id FROM messages WHERE session_id = ? AND body IS NULL": "a fork copies all of it anyway",
  "SELECT count(*) FROM messages WHERE session_id = ? AND body IS NULL": "a fork that is refused",
  "SELECT id, turn FROM messages": "a fork copies all of it anyway",
  "SELECT (SELECT coalesce(max(id), 0) + 1 FROM messages": "the end of the table",
  "INSERT INTO messages (session_id, id, users": "the end of the table",
  "SELECT sha256 FROM session_files": "a thousand rows a write",
  "SELECT id FROM turns WHERE session_id = ?": "along the index, when somebody replays a turn",
  "SELECT turn FROM turns WHERE session_id = ? AND ended_at IS NULL":
    "only turns that have not ended are in that index",
  "SELECT 1 FROM sessions AS s WHERE s.id = ?1 AND ( s.pinned":
    "only turns that have not ended are in that index",
  "SELECT coalesce(m.value ->> '$.model', '')":
    "all turns of a session that a person sees in a list, one of fifty at most",
  "DELETE FROM sessions": "nothing refers to the session any more by then",
};

/** Statements that sort what they have read, and why they may. */
const MAY_SORT: Record<string, string> = {
  "SELECT id FROM turns INDEXED BY open_turns": "as above, and once at the start",
  "SELECT coalesce(m.value ->> '$.model', '')": "a group for each model of a session",
  "SELECT lane FROM intake": "the chats in which something waits, once at the start of a channel",
};

/** Tables and indexes of which a session has more the longer it is. */
const GROWS = /^SEARCH (t|m|i|f|events|messages|turns|inputs|session_files) .*\(session_id=\?\)/;

/** Every statement that a journal prepares. */
async function statementsOf(): Promise<string[]> {
  const prepare = DatabaseSync.prototype.prepare;
  const statements = new Set<string>();
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql: string) {
    statements.add(sql);
    return prepare.call(this, sql);
  };
  try {
    const journal = openJournal({ path: ":memory:" });
    await journal.search({ q: "any", limit: 1 });
    await journal.close();
  } finally {
    DatabaseSync.prototype.prepare = prepare;
  }
  return [...statements]
    .map((sql) => sql.replace(/\s+/g, " ").trim())
    .filter((sql) => /^(SELECT|INSERT|UPDATE|DELETE)/.test(sql) && !sql.includes("sqlite_schema"));
}

function plansOf(statements: readonly string[]): [sql: string, lines: string[]][] {
  const db = openDatabase(":memory:", MIGRATIONS);
  const plans = statements.map((sql): [string, string[]] => [
    sql,
    db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all().map(({ detail }) => detail as string),
  ]);
  db.close();
  return plans;
}

Deno.test("openJournal() prepares statements that seek, whatever there is on record", async () => {
  const plans = plansOf(await statementsOf());
  const needed = new Set<string>();
  const found: [sql: string, line: string][] = [];
  const rules = [
    // A virtual table is always scanned, by its rowid in a range when it names one.
    { is: /^SCAN (?!CONSTANT ROW|.* VIRTUAL TABLE INDEX \d+:[=<>])/, may: MAY_SCAN },
    { is: GROWS, may: MAY_PASS_OVER },
    { is: /TEMP B-TREE/, may: MAY_SORT },
  ];
  for (const [sql, lines] of plans) {
    for (const line of lines) {
      for (const { is, may } of rules) {
        if (!is.test(line)) continue;
        const excuse = Object.keys(may).find((start) => sql.startsWith(start));
        if (excuse === undefined) found.push([sql, line]);
        else needed.add(excuse);
      }
    }
  }
  assertEquals(found, []);
  // An excuse that nothing needs would hide the next one.
  const excuses = [MAY_SCAN, MAY_PASS_OVER, MAY_SORT].flatMap((may) => Object.keys(may));
  assertEquals(needed, new Set(excuses));
});

Deno.test("openJournal() prepares statements that pass over no other chat's messages", async () => {
  const found: [sql: string, line: string][] = [];
  for (const [sql, lines] of plansOf(await statementsOf())) {
    for (const line of lines) {
      if (/^SEARCH outbox\b.*\((channel=\?|channel=\? AND chat_id>\?)\)/.test(line)) {
        found.push([sql.slice(0, 60), line]);
      }
    }
  }
  assertEquals(found, [
    [
      "SELECT chat_id FROM outbox WHERE channel = ? AND chat_id > ?",
      "SEARCH outbox USING INDEX outbox_lanes (channel=? AND chat_id>?)",
    ],
    // When a channel that can tell a repeat is started.
    [
      "UPDATE outbox SET state = 'pending', not_before = 0 WHERE ch",
      "SEARCH outbox USING INDEX outbox_unknown (channel=?)",
    ],
  ]);
});
