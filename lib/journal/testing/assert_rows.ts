import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import type { UserPart } from "../../contract/messages.ts";
import { filesOf } from "../session_files.ts";

/**
 * Asserts what must hold of the tables of a journal that was closed in order, over all sessions:
 * nothing that is damaged or refers to nothing, no session half deleted, no request key on a turn
 * that was cancelled before a tool ran, references to exactly the files of the inputs on record, of each
 * automation the run that is next, and of each channel how many messages wait.
 */
export function assertRows(path: string): void {
  const db = new DatabaseSync(path, { readOnly: true });
  const rowsOf = (sql: string) => db.prepare(sql).all() as Record<string, string | number>[];
  try {
    assertEquals(rowsOf("PRAGMA integrity_check"), [{ integrity_check: "ok" }]);
    assertEquals(rowsOf("PRAGMA foreign_key_check"), []);
    assertEquals(rowsOf("SELECT id FROM sessions WHERE key IS NULL"), []);
    assertEquals(
      rowsOf(`SELECT t.id FROM turns AS t JOIN request_keys USING (turn)
        WHERE t.status = 'cancelled' AND outlives_cancel = 0 AND NOT EXISTS (
          SELECT 1 FROM events AS e WHERE e.session_id = t.session_id AND e.turn = t.turn
          AND e.type = 'tool_result' AND e.body ->> 'status' <> 'refused')`),
      [],
    );
    const files = new Set<string>();
    const inputs = rowsOf(
      "SELECT t.session_id, i.parts FROM inputs AS i JOIN turns AS t USING (turn)",
    );
    for (const { session_id, parts } of inputs) {
      for (const sha256 of filesOf(JSON.parse(parts as string) as UserPart[])) {
        files.add(`${session_id} ${sha256}`);
      }
    }
    const said = rowsOf(
      "SELECT m.session_id, p.value FROM messages AS m, json_each(m.body, '$.media') AS p",
    );
    for (const { session_id, value } of said) {
      const [sha256] = /[0-9a-f]{64}$/.exec(value as string) ?? [];
      if (sha256 !== undefined) files.add(`${session_id} ${sha256}`);
    }
    assertEquals(
      rowsOf(`SELECT session_id FROM said_waiting WHERE NOT EXISTS (SELECT 1 FROM turns AS t
        WHERE t.session_id = said_waiting.session_id AND t.ended_at IS NULL
        AND t.first_message NOT NULL)`),
      [],
    );
    const referred = rowsOf("SELECT session_id, sha256 FROM session_files");
    assertEquals(
      new Set(referred.map(({ session_id, sha256 }) => `${session_id} ${sha256}`)),
      files,
    );
    for (const { request } of rowsOf("SELECT request FROM responses")) {
      assertEquals(typeof JSON.parse(request as string), "object");
    }
    assert((rowsOf("SELECT count(*) AS n FROM responses")[0]!.n as number) <= 4_096);
    for (const { content } of rowsOf("SELECT content FROM outbox")) {
      assertEquals(typeof JSON.parse(content as string), "string");
    }
    assertEquals(
      rowsOf(`SELECT id FROM outbox WHERE expires_at < created_at OR attempts < 0 OR state NOT IN
        ('pending', 'sending', 'sent', 'unknown', 'dead', 'expired')`),
      [],
    );
    assertEquals(
      rowsOf("SELECT * FROM outbox_counts WHERE waiting + unknown + dead > 0 ORDER BY channel"),
      rowsOf(`SELECT channel, sum(state IN ('pending', 'sending')) AS waiting,
          sum(state = 'unknown') AS unknown, sum(state = 'dead') AS dead
        FROM outbox WHERE state IN ('pending', 'sending', 'unknown', 'dead')
        GROUP BY channel ORDER BY channel`),
    );
    assertEquals(
      rowsOf(`SELECT turn FROM channel_turns WHERE acked > sending
        OR (stream IS NULL AND sending > 0) OR json_type(metadata) <> 'object'`),
      [],
    );
    assertEquals(
      rowsOf(`SELECT id FROM automations AS a WHERE enabled <> spec ->> 'enabled'
        OR head_run IS NOT CASE
          WHEN EXISTS (SELECT 1 FROM automation_runs WHERE automation_id = a.id AND state = 'running')
            THEN NULL
          ELSE coalesce(
            (SELECT min(run) FROM automation_runs
              WHERE automation_id = a.id AND state = 'waiting' AND slot_at IS NULL),
            (SELECT min(run) FROM automation_runs
              WHERE automation_id = a.id AND state = 'waiting')) END
        OR head_not_before IS NOT (SELECT not_before FROM automation_runs WHERE run = head_run)`),
      [],
    );
  } finally {
    db.close();
  }
}
