import type { AutomationRun } from "../contract/automation_record.ts";
import { MAX_HISTORY, MAX_WAITING } from "../schedule/automation_record.ts";
import type { Settlement } from "../contract/automation_store.ts";
import { RUN_COLUMNS, toRun } from "./automation_rows.ts";
import { Queries } from "./query.ts";
import type { RequestKey } from "../contract/journal.ts";

const SELECT = `SELECT ${RUN_COLUMNS} FROM automation_runs`;
const WAITING = "FROM automation_runs WHERE automation_id = ? AND state = 'waiting'";

/**
 * Runs of automations as rows of `automation_runs`. What changes them is called inside a batch of the
 * writer, and each change of an automation's runs is followed by `refreshHead`.
 */
export class AutomationRunRows extends Queries {
  readonly #selectOne = this.query(`${SELECT} WHERE run = ?`, toRun);
  readonly #selectByKey = this.query(
    `${SELECT} WHERE automation_id = ? AND scope = ? AND key = ?`,
    toRun,
  );
  readonly #insert = this.query(`INSERT INTO automation_runs
      (automation_id, scope, key, digest, slot_at, claimed_at, state, attempts, not_before)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'waiting', 0, ?6)`);
  // A claim adds at most as many as may wait to as many as may wait.
  readonly #countWaiting = this.query<[number]>(
    `SELECT count(*) FROM (SELECT 1 ${WAITING} LIMIT ${2 * MAX_WAITING})`,
  );
  readonly #selectRunning = this.query(
    "SELECT 1 FROM automation_runs WHERE automation_id = ? AND state = 'running'",
  );
  readonly #removeOldest = this.query(`DELETE FROM automation_runs WHERE run IN
    (SELECT run ${WAITING} AND slot_at NOT NULL AND attempts = 0 ORDER BY run LIMIT ?)`);
  readonly #updateDropped = this.query(`UPDATE automation_runs SET state = 'dropped', ended_at = ?2
    WHERE automation_id = ?1 AND state = 'waiting' AND slot_at NOT NULL`);
  readonly #updateBegun = this.query(`UPDATE automation_runs
    SET state = 'running', attempts = attempts + 1, turn_id = NULL WHERE run = ?`);
  readonly #updateAccepted = this.query("UPDATE automation_runs SET turn_id = ? WHERE run = ?");
  readonly #updateRetry = this.query(
    "UPDATE automation_runs SET state = 'waiting', not_before = ?, error = ? WHERE run = ?",
  );
  readonly #updateEnd = this.query(
    "UPDATE automation_runs SET state = ?, ended_at = ?, error = ? WHERE run = ?",
  );
  // Of an automation there are never many more than are kept.
  readonly #trim = this.query(`DELETE FROM automation_runs WHERE run IN
    (SELECT run FROM automation_runs INDEXED BY automation_runs_in_order
     WHERE automation_id = ? AND ended_at NOT NULL ORDER BY run DESC LIMIT -1 OFFSET ${MAX_HISTORY})`);
  readonly #selectAsked = this.query<[run: number, notBefore: number]>(
    `SELECT run, not_before ${WAITING} AND slot_at IS NULL ORDER BY run LIMIT 1`,
  );
  readonly #selectSlot = this.query<[run: number, notBefore: number]>(
    `SELECT run, not_before ${WAITING} AND slot_at NOT NULL ORDER BY run LIMIT 1`,
  );
  readonly #updateHead = this.query(
    "UPDATE automations SET head_run = ?, head_not_before = ? WHERE id = ?",
  );
  readonly #selectAllRunning = this.query(
    `${SELECT} INDEXED BY running_runs WHERE state = 'running' AND run > ? ORDER BY run LIMIT ?`,
    toRun,
  );
  readonly #selectHistory = this.query(
    `${SELECT} WHERE automation_id = ? AND run < ? ORDER BY run DESC LIMIT ?`,
    toRun,
  );

  find(rowid: number): AutomationRun | undefined {
    return this.#selectOne.get(rowid);
  }

  findByKey(automationId: string, { scope, key }: RequestKey): AutomationRun | undefined {
    return this.#selectByKey.get(automationId, scope, key);
  }

  add(
    { automationId, key: { scope, key, digest }, slotAt, now }: {
      automationId: string;
      key: RequestKey;
      slotAt?: number;
      now: number;
    },
  ): AutomationRun {
    return this.find(this.#insert.insert(automationId, scope, key, digest, slotAt ?? null, now))!;
  }

  /** How many wait, counted up to one more than may. */
  countWaiting(automationId: string): number {
    return this.#countWaiting.get(automationId)![0];
  }

  isRunning(automationId: string): boolean {
    return this.#selectRunning.get(automationId) !== undefined;
  }

  /**
   * Removes slots that wait and have made no attempt yet, the oldest first. Returns how many there
   * were.
   */
  leaveOut(automationId: string, count: number): number {
    return this.#removeOldest.run(automationId, count);
  }

  /** Ends the slots that wait as dropped. */
  dropSlots(automationId: string, endedAt: number): void {
    this.#updateDropped.run(automationId, endedAt);
    this.#trim.run(automationId);
  }

  begin(rowid: number): void {
    this.#updateBegun.run(rowid);
  }

  accepted(rowid: number, turnId: string): void {
    this.#updateAccepted.run(turnId, rowid);
  }

  /** Back to waiting, for the next attempt. */
  retry({ rowid, retryAt, error }: Settlement & { retryAt: number }): void {
    this.#updateRetry.run(retryAt, error ?? null, rowid);
  }

  end({ rowid, automationId }: AutomationRun, { state, now, error }: Settlement): void {
    this.#updateEnd.run(state, now, error ?? null, rowid);
    this.#trim.run(automationId);
  }

  /** Notes which run is next, if one may begin once its time has come. */
  refreshHead(automationId: string): void {
    const head = this.isRunning(automationId)
      ? undefined
      : this.#selectAsked.get(automationId) ?? this.#selectSlot.get(automationId);
    this.#updateHead.run(head?.[0] ?? null, head?.[1] ?? null, automationId);
  }

  running(afterRowid: number, limit: number): AutomationRun[] {
    return this.#selectAllRunning.all(afterRowid, limit);
  }

  history(automationId: string, beforeRowid: number, limit: number): AutomationRun[] {
    return this.#selectHistory.all(automationId, beforeRowid, limit);
  }
}
