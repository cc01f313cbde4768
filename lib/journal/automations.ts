import type { DatabaseSync } from "node:sqlite";
import { MAX_AHEAD_MS, MAX_AUTOMATIONS, MAX_WAITING } from "../schedule/automation_record.ts";
import type { AutomationRecord, AutomationRun } from "../contract/automation_record.ts";
import type { AutomationStore, Claim, Settlement } from "../contract/automation_store.ts";
import type { RequestKey } from "../contract/journal.ts";
import { ServiceError } from "../base/errors.ts";
import { AUTOMATION_COLUMNS, RUN_COLUMNS, toRecord, toRun } from "./automation_rows.ts";
import { AutomationRunRows } from "./automation_runs.ts";
import { checkInteger, checkName } from "./checks.ts";
import { Queries } from "./query.ts";
import { Refused, type Writer } from "./writer.ts";

const SELECT = `SELECT ${AUTOMATION_COLUMNS} FROM automations`;
const SELECT_HEADS = `SELECT ${RUN_COLUMNS} FROM automations AS a
  CROSS JOIN automation_runs AS r ON r.run = a.head_run WHERE a.head_not_before`;
const HEADS_IN_ORDER = "ORDER BY a.head_not_before, a.head_run LIMIT ?";

/**
 * The {@linkcode AutomationStore} of the journal. What somebody asked for is on the disk when it is
 * answered; a step of a run need not be, as it is committed before the turn that follows from it and
 * can be done again without doubling anything.
 */
export class SqliteAutomationStore extends Queries implements AutomationStore {
  readonly #selectOne = this.query(`${SELECT} WHERE id = ?`, toRecord);
  readonly #selectPage = this.query(`${SELECT} WHERE id > ? ORDER BY id LIMIT ?`, toRecord);
  readonly #count = this.query<[number]>("SELECT count(*) FROM automations");
  readonly #insert = this.query(`INSERT INTO automations (${AUTOMATION_COLUMNS}, enabled)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  readonly #update = this.query(`UPDATE automations
    SET spec = ?, enabled = ?, created_at = ?, revision = ?, cursor = ?, next_at = ? WHERE id = ?`);
  readonly #updateClaimed = this.query(
    "UPDATE automations SET cursor = ?, next_at = ?, missed = missed + ? WHERE id = ?",
  );
  readonly #countMissed = this.query("UPDATE automations SET missed = missed + ? WHERE id = ?");
  readonly #countOverlapped = this.query(
    "UPDATE automations SET overlapped = overlapped + ? WHERE id = ?",
  );
  readonly #updateResult = this.query("UPDATE automations SET result_digest = ? WHERE id = ?");
  readonly #remove = this.query("DELETE FROM automations WHERE id = ?");
  readonly #selectDue = this.query(
    `${SELECT} WHERE next_at <= ? ORDER BY next_at LIMIT ?`,
    toRecord,
  );
  readonly #selectAhead = this.query(
    `${SELECT} WHERE enabled = 1 AND cursor > ? ORDER BY cursor LIMIT ?`,
    toRecord,
  );
  readonly #selectWake = this.query<[number | null]>(`SELECT min(at) FROM (
    SELECT (SELECT next_at FROM automations WHERE next_at NOT NULL ORDER BY next_at LIMIT 1) AS at
    UNION ALL SELECT (SELECT head_not_before FROM automations WHERE head_not_before NOT NULL
      ORDER BY head_not_before LIMIT 1))`);
  readonly #selectReady = this.query(`${SELECT_HEADS} <= ? ${HEADS_IN_ORDER}`, toRun);
  readonly #selectReadyAhead = this.query(`${SELECT_HEADS} > ? ${HEADS_IN_ORDER}`, toRun);
  readonly #writer: Writer;
  readonly #runs: AutomationRunRows;

  constructor(db: DatabaseSync, writer: Writer) {
    super(db);
    this.#writer = writer;
    this.#runs = new AutomationRunRows(db);
  }

  async create(record: AutomationRecord): Promise<boolean> {
    const { id, spec, createdAt, revision, cursor, nextAt, missed, overlapped, resultDigest } =
      record;
    checkName("id", id);
    const body = JSON.stringify(spec);
    return await this.#writer.write("full", () => {
      if (this.#selectOne.get(id) !== undefined) return false;
      if (this.#count.get()![0] >= MAX_AUTOMATIONS) return new Refused(tooMany());
      const numbers = [createdAt, revision, cursor, nextAt ?? null, missed, overlapped];
      this.#insert.run(id, body, ...numbers, resultDigest ?? null, spec.enabled ? 1 : 0);
      return true;
    }, body.length);
  }

  find(id: string): Promise<AutomationRecord | undefined> {
    return read(() => this.#selectOne.get(id));
  }

  list(afterId: string, limit: number): Promise<AutomationRecord[]> {
    return read(() => {
      checkInteger("limit", limit, 1);
      return this.#selectPage.all(afterId, limit);
    });
  }

  replace(
    { id, spec, createdAt, revision, cursor, nextAt }: AutomationRecord,
    { revision: was, cursor: from }: AutomationRecord,
  ): Promise<boolean> {
    const body = JSON.stringify(spec);
    return this.#writer.write("full", () => {
      const known = this.#selectOne.get(id);
      if (known?.revision !== was || known.cursor !== from) return false;
      const enabled = spec.enabled ? 1 : 0;
      this.#update.run(body, enabled, createdAt, revision, cursor, nextAt ?? null, id);
      if (!spec.enabled) {
        this.#runs.dropSlots(id, cursor);
        this.#runs.refreshHead(id);
      }
      return true;
    }, body.length);
  }

  remove(id: string): Promise<boolean> {
    return this.#writer.write("full", () => this.#remove.run(id) > 0);
  }

  due(now: number, limit: number): Promise<AutomationRecord[]> {
    return read(() => this.#selectDue.all(now, limit));
  }

  ahead(at: number, limit: number): Promise<AutomationRecord[]> {
    return read(() => this.#selectAhead.all(at, limit));
  }

  claim(
    { automationId: id, revision, fromCursor, runs, missed, cursor, nextAt, now }: Claim,
  ): Promise<boolean> {
    return this.#writer.write("full", () => {
      const record = this.#selectOne.get(id);
      if (
        !record?.spec.enabled || record.revision !== revision || record.cursor !== fromCursor
      ) return false;
      this.#updateClaimed.run(cursor, nextAt ?? null, missed, id);
      const fresh = runs.filter(({ key }) => this.#runs.findByKey(id, key) === undefined);
      const isBusy = this.#runs.isRunning(id) || this.#runs.countWaiting(id) > 0;
      if (record.spec.overlap === "skip" && isBusy) {
        this.#countOverlapped.run(fresh.length, id);
        return true;
      }
      for (const { key, slotAt } of fresh) this.#runs.add({ automationId: id, key, slotAt, now });
      const surplus = this.#runs.countWaiting(id) - MAX_WAITING;
      if (surplus > 0) this.#countMissed.run(this.#runs.leaveOut(id, surplus), id);
      this.#runs.refreshHead(id);
      return true;
    });
  }

  request(
    { automationId: id, key, now }: { automationId: string; key: RequestKey; now: number },
  ): Promise<AutomationRun | undefined> {
    return this.#writer.write("full", () => {
      if (this.#selectOne.get(id) === undefined) return undefined;
      const known = this.#runs.findByKey(id, key);
      if (known !== undefined) return known;
      if (this.#runs.countWaiting(id) >= MAX_WAITING) return new Refused(tooManyWait(id));
      const run = this.#runs.add({ automationId: id, key, now });
      this.#runs.refreshHead(id);
      return run;
    });
  }

  wakeAt(): Promise<number | undefined> {
    return read(() => this.#selectWake.get()![0] ?? undefined);
  }

  ready(now: number, limit: number): Promise<AutomationRun[]> {
    return read(() => {
      const runs = this.#selectReady.all(now, limit);
      const left = limit - runs.length;
      if (left > 0) runs.push(...this.#selectReadyAhead.all(now + MAX_AHEAD_MS, left));
      return runs;
    });
  }

  running(afterRowid: number, limit: number): Promise<AutomationRun[]> {
    return read(() => this.#runs.running(afterRowid, limit));
  }

  begin(rowid: number): Promise<AutomationRun | undefined> {
    return this.#writer.write("normal", () => {
      const run = this.#runs.find(rowid);
      if (run?.state !== "waiting" || this.#runs.isRunning(run.automationId)) return undefined;
      this.#runs.begin(rowid);
      this.#runs.refreshHead(run.automationId);
      return this.#runs.find(rowid);
    });
  }

  accepted(rowid: number, attempt: number, turnId: string): Promise<boolean> {
    return this.#inAttempt(rowid, attempt, () => this.#runs.accepted(rowid, turnId));
  }

  settle(settlement: Settlement): Promise<boolean> {
    const { rowid, attempt, retryAt, resultDigest } = settlement;
    return this.#inAttempt(rowid, attempt, (run) => {
      const { automationId } = run;
      const goesOn = run.slotAt === undefined || this.#selectOne.get(automationId)!.spec.enabled;
      if (retryAt !== undefined && goesOn) {
        this.#runs.retry({ ...settlement, retryAt });
      } else {
        if (resultDigest !== undefined) this.#updateResult.run(resultDigest, automationId);
        this.#runs.end(run, settlement);
      }
      this.#runs.refreshHead(automationId);
    });
  }

  history(automationId: string, beforeRowid: number, limit: number): Promise<AutomationRun[]> {
    return read(() => {
      checkInteger("limit", limit, 1);
      return this.#runs.history(automationId, beforeRowid, limit);
    });
  }

  /** Takes a step of a run, unless it is not in that attempt any more: false then. */
  #inAttempt(rowid: number, attempt: number, step: (run: AutomationRun) => void): Promise<boolean> {
    return this.#writer.write("normal", () => {
      const run = this.#runs.find(rowid);
      if (run?.state !== "running" || run.attempts !== attempt) return false;
      step(run);
      return true;
    });
  }
}

/** Reads are rejections too when the database fails, as everything of the store is. */
function read<T>(run: () => T): Promise<T> {
  return Promise.resolve().then(run);
}

function tooMany(): ServiceError {
  const message = `Cannot add an automation: there are ${MAX_AUTOMATIONS}; delete one first`;
  return new ServiceError("overloaded", message);
}

function tooManyWait(id: string): ServiceError {
  const message = `Cannot run automation ${JSON.stringify(id)}: ${MAX_WAITING} runs of it wait`;
  return new ServiceError("queue_full", message);
}
