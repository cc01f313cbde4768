import type { DatabaseSync } from "node:sqlite";
import { MAX_AHEAD_MS, MAX_AUTOMATIONS, MAX_WAITING } from "../schedule/automation_record.ts";
import type { AutomationStore } from "../contract/automation_store.ts";
import { ServiceError } from "../base/errors.ts";
import {
  AUTOMATION_COLUMNS,
  type AutomationRow,
  RUN_COLUMNS,
  type RunRow,
  toRecord,
  toRun,
} from "./automation_rows.ts";
import { createAutomationRunRows } from "./automation_runs.ts";
import { checkInteger, checkName } from "./checks.ts";
import { query } from "./query.ts";
import { Refused, type Writer } from "./writer.ts";

/** What {@linkcode createAutomationStore} needs. */
export interface AutomationStoreDependencies {
  db: DatabaseSync;
  writer: Writer;
}

/**
 * The {@linkcode AutomationStore} of the journal. What somebody asked for is on the disk when it is
 * answered; a step of a run need not be, as it is committed before the turn that follows from it and
 * can be done again without doubling anything.
 */
export function createAutomationStore(
  { db, writer }: AutomationStoreDependencies,
): AutomationStore {
  const runs = createAutomationRunRows(db);
  const select = `SELECT ${AUTOMATION_COLUMNS} FROM automations`;
  const selectOne = query<AutomationRow>(db, `${select} WHERE id = ?`);
  const selectPage = query<AutomationRow>(db, `${select} WHERE id > ? ORDER BY id LIMIT ?`);
  const count = query<[number]>(db, "SELECT count(*) FROM automations");
  const insert = query(
    db,
    `INSERT INTO automations (${AUTOMATION_COLUMNS}, enabled) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const update = query(
    db,
    `UPDATE automations SET spec = ?, enabled = ?, created_at = ?, revision = ?, cursor = ?,
       next_at = ? WHERE id = ?`,
  );
  const updateClaimed = query(
    db,
    "UPDATE automations SET cursor = ?, next_at = ?, missed = missed + ? WHERE id = ?",
  );
  const countMissed = query(db, "UPDATE automations SET missed = missed + ? WHERE id = ?");
  const countOverlapped = query(
    db,
    "UPDATE automations SET overlapped = overlapped + ? WHERE id = ?",
  );
  const updateResult = query(db, "UPDATE automations SET result_digest = ? WHERE id = ?");
  const remove = query(db, "DELETE FROM automations WHERE id = ?");
  const selectDue = query<AutomationRow>(
    db,
    `${select} WHERE next_at <= ? ORDER BY next_at LIMIT ?`,
  );
  const selectAhead = query<AutomationRow>(
    db,
    `${select} WHERE enabled = 1 AND cursor > ? ORDER BY cursor LIMIT ?`,
  );
  const selectWake = query<[number | null]>(
    db,
    `SELECT min(at) FROM (
       SELECT (SELECT next_at FROM automations WHERE next_at NOT NULL ORDER BY next_at LIMIT 1) AS at
       UNION ALL SELECT (SELECT head_not_before FROM automations WHERE head_not_before NOT NULL
         ORDER BY head_not_before LIMIT 1)
     )`,
  );
  const selectHeads = (when: string) =>
    query<RunRow>(
      db,
      `SELECT ${RUN_COLUMNS} FROM automations AS a CROSS JOIN automation_runs AS r ON r.run = a.head_run
       WHERE a.head_not_before ${when} ? ORDER BY a.head_not_before, a.head_run LIMIT ?`,
    );
  const selectReady = selectHeads("<=");
  const selectReadyAhead = selectHeads(">");

  function find(id: string) {
    const row = selectOne.get(id);
    return row && toRecord(row);
  }

  // Reads are rejections too when the database fails, as everything of the store is.
  const read = <T>(run: () => T): Promise<T> => Promise.resolve().then(run);

  return {
    async create({ id, spec, createdAt, revision, cursor, nextAt, ...counts }) {
      checkName("id", id);
      const body = JSON.stringify(spec);
      return await writer.write("full", () => {
        if (find(id) !== undefined) return false;
        if (count.get()![0] >= MAX_AUTOMATIONS) return new Refused(tooMany());
        const { missed, overlapped, resultDigest } = counts;
        const numbers = [createdAt, revision, cursor, nextAt ?? null, missed, overlapped];
        insert.run(id, body, ...numbers, resultDigest ?? null, spec.enabled ? 1 : 0);
        return true;
      }, body.length);
    },
    find: (id) => read(() => find(id)),
    list: (afterId, limit) =>
      read(() => {
        checkInteger("limit", limit, 1);
        return selectPage.all(afterId, limit).map(toRecord);
      }),
    replace({ id, spec, createdAt, revision, cursor, nextAt }, { revision: was, cursor: from }) {
      const body = JSON.stringify(spec);
      return writer.write("full", () => {
        const known = find(id);
        if (known?.revision !== was || known.cursor !== from) return false;
        const enabled = spec.enabled ? 1 : 0;
        update.run(body, enabled, createdAt, revision, cursor, nextAt ?? null, id);
        if (!spec.enabled) {
          runs.dropSlots(id, cursor);
          runs.refreshHead(id);
        }
        return true;
      }, body.length);
    },
    remove: (id) => writer.write("full", () => remove.run(id) > 0),

    due: (now, limit) => read(() => selectDue.all(now, limit).map(toRecord)),
    ahead: (at, limit) => read(() => selectAhead.all(at, limit).map(toRecord)),
    claim({ automationId: id, revision, fromCursor, runs: claimed, missed, cursor, nextAt, now }) {
      return writer.write("full", () => {
        const record = find(id);
        if (
          !record?.spec.enabled || record.revision !== revision || record.cursor !== fromCursor
        ) return false;
        updateClaimed.run(cursor, nextAt ?? null, missed, id);
        const fresh = claimed.filter(({ key }) => runs.findByKey(id, key) === undefined);
        const isBusy = runs.isRunning(id) || runs.countWaiting(id) > 0;
        if (record.spec.overlap === "skip" && isBusy) {
          countOverlapped.run(fresh.length, id);
          return true;
        }
        for (const { key, slotAt } of fresh) runs.add({ automationId: id, key, slotAt, now });
        const surplus = runs.countWaiting(id) - MAX_WAITING;
        if (surplus > 0) countMissed.run(runs.leaveOut(id, surplus), id);
        runs.refreshHead(id);
        return true;
      });
    },
    request({ automationId: id, key, now }) {
      return writer.write("full", () => {
        if (find(id) === undefined) return undefined;
        const known = runs.findByKey(id, key);
        if (known !== undefined) return known;
        if (runs.countWaiting(id) >= MAX_WAITING) return new Refused(tooManyWait(id));
        const run = runs.add({ automationId: id, key, now });
        runs.refreshHead(id);
        return run;
      });
    },

    wakeAt: () => read(() => selectWake.get()![0] ?? undefined),
    ready: (now, limit) =>
      read(() => {
        const rows = selectReady.all(now, limit);
        const left = limit - rows.length;
        if (left > 0) rows.push(...selectReadyAhead.all(now + MAX_AHEAD_MS, left));
        return rows.map(toRun);
      }),
    running: (afterRowid, limit) => read(() => runs.running(afterRowid, limit)),
    begin(rowid) {
      return writer.write("normal", () => {
        const run = runs.find(rowid);
        if (run?.state !== "waiting" || runs.isRunning(run.automationId)) return undefined;
        runs.begin(rowid);
        runs.refreshHead(run.automationId);
        return runs.find(rowid);
      });
    },
    accepted(rowid, attempt, turnId) {
      return writer.write("normal", () => {
        const run = runs.find(rowid);
        if (run?.state !== "running" || run.attempts !== attempt) return false;
        runs.accepted(rowid, turnId);
        return true;
      });
    },
    settle(settlement) {
      const { rowid, attempt, retryAt, resultDigest } = settlement;
      return writer.write("normal", () => {
        const run = runs.find(rowid);
        if (run?.state !== "running" || run.attempts !== attempt) return false;
        const { automationId } = run;
        const goesOn = run.slotAt === undefined || find(automationId)!.spec.enabled;
        if (retryAt !== undefined && goesOn) {
          runs.retry({ ...settlement, retryAt });
        } else {
          if (resultDigest !== undefined) updateResult.run(resultDigest, automationId);
          runs.end(run, settlement);
        }
        runs.refreshHead(automationId);
        return true;
      });
    },

    history: (automationId, beforeRowid, limit) =>
      read(() => {
        checkInteger("limit", limit, 1);
        return runs.history(automationId, beforeRowid, limit);
      }),
  };
}

function tooMany(): ServiceError {
  const message = `Cannot add an automation: there are ${MAX_AUTOMATIONS}; delete one first`;
  return new ServiceError("overloaded", message);
}

function tooManyWait(id: string): ServiceError {
  const message = `Cannot run automation ${JSON.stringify(id)}: ${MAX_WAITING} runs of it wait`;
  return new ServiceError("queue_full", message);
}
