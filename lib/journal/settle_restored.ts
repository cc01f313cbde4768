import type { DatabaseSync } from "node:sqlite";
import { type DueSlots, dueSlots } from "../schedule/due_slots.ts";
import { AUTOMATION_COLUMNS, toRecord } from "./automation_rows.ts";
import { openDatabase } from "./database.ts";
import { MIGRATIONS } from "./migrations/migrations.ts";
import { query } from "./query.ts";

/** What a restored journal leaves behind, so that nothing happens twice. */
export interface SettledJournal {
  /** Turns that the next start ends as interrupted. */
  turns: number;
  /** Answers that hadn't been handed over to their chat. */
  answers: number;
  /** Messages that may have been delivered since; `service outbox` decides. */
  messages: number;
  /** Runs of automations that waited or ran. */
  runs: number;
  /** Slots that came due since; they count as missed. */
  slots: number;
}

const REASON = "The home was restored from a backup";

/**
 * Prepares the journal of a backup for its first start: what was under way may have happened since, so
 * none of it is done again. Numbers of events that clients have seen don't count any more.
 *
 * Throws as {@linkcode openDatabase}.
 */
export function settleRestored(path: string, now: number): SettledJournal {
  const db = openDatabase(path, MIGRATIONS);
  try {
    db.exec("BEGIN IMMEDIATE");
    const settled = {
      // A turn that isn't durable ends as interrupted at the next start.
      turns: query(db, "UPDATE turns SET durable = 0 WHERE ended_at IS NULL").run(),
      answers: query(db, "DELETE FROM channel_turns").run(),
      messages: query(
        db,
        "UPDATE outbox SET state = 'unknown', error = ? WHERE state IN ('pending', 'sending')",
      ).run(REASON),
      runs: endRuns(db, now),
      slots: passSlots(db, now),
    };
    // As after a crash, which gives all chats another epoch.
    db.exec("UPDATE openings SET closed = 0");
    db.exec("COMMIT");
    return settled;
  } finally {
    db.close();
  }
}

function endRuns(db: DatabaseSync, now: number): number {
  const end = query(
    db,
    "UPDATE automation_runs SET state = ?, ended_at = ?, error = ? WHERE state = ?",
  );
  const ended = end.run("failed", now, REASON, "running") +
    end.run("expired", now, REASON, "waiting");
  db.exec("UPDATE automations SET head_run = NULL, head_not_before = NULL");
  return ended;
}

function passSlots(db: DatabaseSync, now: number): number {
  const records = query(
    db,
    `SELECT ${AUTOMATION_COLUMNS} FROM automations WHERE next_at <= ?`,
    toRecord,
  ).all(now);
  const pass = query(
    db,
    "UPDATE automations SET cursor = ?, next_at = ?, missed = missed + ? WHERE id = ?",
  );
  let slots = 0;
  for (const record of records) {
    let due: DueSlots;
    try {
      due = dueSlots(record, now);
    } catch {
      // A time zone that this version doesn't know: the scheduler says so.
      continue;
    }
    const passed = due.missed + due.run.length;
    pass.run(due.cursor, due.nextAt ?? null, passed, record.id);
    slots += passed;
  }
  return slots;
}
