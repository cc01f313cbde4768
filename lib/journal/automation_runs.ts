import type { DatabaseSync } from "node:sqlite";
import type { AutomationRun } from "../contract/automation_record.ts";
import { MAX_HISTORY, MAX_WAITING } from "../schedule/automation_record.ts";
import type { Settlement } from "../contract/automation_store.ts";
import { RUN_COLUMNS, type RunRow, toRun } from "./automation_rows.ts";
import { query } from "./query.ts";
import type { RequestKey } from "../contract/journal.ts";

/**
 * Runs of automations as rows. What changes them is called inside a batch of the writer, and each
 * change of an automation's runs is followed by `refreshHead`.
 */
export interface AutomationRunRows {
  find(rowid: number): AutomationRun | undefined;
  findByKey(automationId: string, key: RequestKey): AutomationRun | undefined;
  add(run: { automationId: string; key: RequestKey; slotAt?: number; now: number }): AutomationRun;
  /** How many wait, counted up to one more than may. */
  countWaiting(automationId: string): number;
  isRunning(automationId: string): boolean;
  /**
   * Removes slots that wait and have made no attempt yet, the oldest first. Returns how many there
   * were.
   */
  leaveOut(automationId: string, count: number): number;
  /** Ends the slots that wait as dropped. */
  dropSlots(automationId: string, endedAt: number): void;
  begin(rowid: number): void;
  accepted(rowid: number, turnId: string): void;
  /** Back to waiting, for the next attempt. */
  retry(settlement: Settlement & { retryAt: number }): void;
  end(run: AutomationRun, settlement: Settlement): void;
  /** Notes which run is next, if one may begin once its time has come. */
  refreshHead(automationId: string): void;
  running(afterRowid: number, limit: number): AutomationRun[];
  history(automationId: string, beforeRowid: number, limit: number): AutomationRun[];
}

/** {@linkcode AutomationRunRows} over the table `automation_runs`. */
export function createAutomationRunRows(db: DatabaseSync): AutomationRunRows {
  const select = `SELECT ${RUN_COLUMNS} FROM automation_runs`;
  const selectOne = query<RunRow>(db, `${select} WHERE run = ?`);
  const selectByKey = query<RunRow>(
    db,
    `${select} WHERE automation_id = ? AND scope = ? AND key = ?`,
  );
  const insert = query(
    db,
    `INSERT INTO automation_runs
       (automation_id, scope, key, digest, slot_at, claimed_at, state, attempts, not_before)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'waiting', 0, ?6)`,
  );
  const waiting = "FROM automation_runs WHERE automation_id = ? AND state = 'waiting'";
  // A claim adds at most as many as may wait to as many as may wait.
  const countWaiting = query<[number]>(
    db,
    `SELECT count(*) FROM (SELECT 1 ${waiting} LIMIT ${2 * MAX_WAITING})`,
  );
  const selectRunning = query<[number]>(
    db,
    "SELECT 1 FROM automation_runs WHERE automation_id = ? AND state = 'running'",
  );
  const removeOldest = query(
    db,
    `DELETE FROM automation_runs WHERE run IN
       (SELECT run ${waiting} AND slot_at NOT NULL AND attempts = 0 ORDER BY run LIMIT ?)`,
  );
  const updateDropped = query(
    db,
    `UPDATE automation_runs SET state = 'dropped', ended_at = ?2
     WHERE automation_id = ?1 AND state = 'waiting' AND slot_at NOT NULL`,
  );
  const updateBegun = query(
    db,
    `UPDATE automation_runs SET state = 'running', attempts = attempts + 1, turn_id = NULL
     WHERE run = ?`,
  );
  const updateAccepted = query(db, "UPDATE automation_runs SET turn_id = ? WHERE run = ?");
  const updateRetry = query(
    db,
    "UPDATE automation_runs SET state = 'waiting', not_before = ?, error = ? WHERE run = ?",
  );
  const updateEnd = query(
    db,
    "UPDATE automation_runs SET state = ?, ended_at = ?, error = ? WHERE run = ?",
  );
  // Of an automation there are never many more than are kept.
  const trim = query(
    db,
    `DELETE FROM automation_runs WHERE run IN
       (SELECT run FROM automation_runs INDEXED BY automation_runs_in_order
        WHERE automation_id = ? AND ended_at NOT NULL
        ORDER BY run DESC LIMIT -1 OFFSET ${MAX_HISTORY})`,
  );
  const selectHead = (which: string) =>
    query<[run: number, notBefore: number]>(
      db,
      `SELECT run, not_before ${waiting} AND slot_at ${which} ORDER BY run LIMIT 1`,
    );
  const selectAsked = selectHead("IS NULL");
  const selectSlot = selectHead("NOT NULL");
  const updateHead = query(
    db,
    "UPDATE automations SET head_run = ?, head_not_before = ? WHERE id = ?",
  );
  const selectAllRunning = query<RunRow>(
    db,
    `${select} INDEXED BY running_runs WHERE state = 'running' AND run > ? ORDER BY run LIMIT ?`,
  );
  const selectHistory = query<RunRow>(
    db,
    `${select} WHERE automation_id = ? AND run < ? ORDER BY run DESC LIMIT ?`,
  );

  function find(rowid: number): AutomationRun | undefined {
    const row = selectOne.get(rowid);
    return row && toRun(row);
  }

  const isRunning = (automationId: string) => selectRunning.get(automationId) !== undefined;

  return {
    find,
    isRunning,
    findByKey(automationId, { scope, key }) {
      const row = selectByKey.get(automationId, scope, key);
      return row && toRun(row);
    },
    add({ automationId, key: { scope, key, digest }, slotAt, now }) {
      return find(insert.insert(automationId, scope, key, digest, slotAt ?? null, now))!;
    },
    countWaiting: (automationId) => countWaiting.get(automationId)![0],
    leaveOut: (automationId, count) => removeOldest.run(automationId, count),
    dropSlots(automationId, endedAt) {
      updateDropped.run(automationId, endedAt);
      trim.run(automationId);
    },
    begin(rowid) {
      updateBegun.run(rowid);
    },
    accepted(rowid, turnId) {
      updateAccepted.run(turnId, rowid);
    },
    retry({ rowid, retryAt, error }) {
      updateRetry.run(retryAt, error ?? null, rowid);
    },
    end({ rowid, automationId }, { state, now, error }) {
      updateEnd.run(state, now, error ?? null, rowid);
      trim.run(automationId);
    },
    refreshHead(automationId) {
      const head = isRunning(automationId)
        ? undefined
        : selectAsked.get(automationId) ?? selectSlot.get(automationId);
      updateHead.run(head?.[0] ?? null, head?.[1] ?? null, automationId);
    },
    running: (afterRowid, limit) => selectAllRunning.all(afterRowid, limit).map(toRun),
    history: (automationId, beforeRowid, limit) =>
      selectHistory.all(automationId, beforeRowid, limit).map(toRun),
  };
}
