/**
 * {@linkcode AutomationStore} in memory: the reference for every other.
 *
 * @module
 */

import { ServiceError } from "../../base/errors.ts";
import type { RequestKey } from "../../contract/journal.ts";
import type { AutomationRecord, AutomationRun } from "../../contract/automation_record.ts";
import {
  MAX_AHEAD_MS,
  MAX_AUTOMATIONS,
  MAX_HISTORY,
  MAX_WAITING,
} from "../../schedule/automation_record.ts";
import type { AutomationStore, Claim, Settlement } from "../../contract/automation_store.ts";

interface Entry {
  record: AutomationRecord;
  /** In the order of claims: first those that ended and are kept, among the open ones. */
  runs: Map<number, AutomationRun>;
}

export class MemoryAutomationStore implements AutomationStore {
  readonly #entries = new Map<string, Entry>();
  #lastRowid = 0;

  create(record: AutomationRecord): Promise<boolean> {
    if (this.#entries.has(record.id)) return Promise.resolve(false);
    if (this.#entries.size >= MAX_AUTOMATIONS) {
      return Promise.reject(
        new ServiceError(
          "overloaded",
          `Cannot add an automation: there are ${MAX_AUTOMATIONS}; delete one first`,
        ),
      );
    }
    this.#entries.set(record.id, { record: structuredClone(record), runs: new Map() });
    return Promise.resolve(true);
  }

  find(id: string): Promise<AutomationRecord | undefined> {
    return copied(this.#entries.get(id)?.record);
  }

  list(afterId: string, limit: number): Promise<AutomationRecord[]> {
    const after = this.#records().filter(({ id }) => id > afterId);
    return copied(after.sort((a, b) => a.id < b.id ? -1 : 1).slice(0, limit));
  }

  replace(record: AutomationRecord, read: AutomationRecord): Promise<boolean> {
    const entry = this.#entries.get(record.id);
    if (entry?.record.revision !== read.revision || entry.record.cursor !== read.cursor) {
      return Promise.resolve(false);
    }
    const { missed, overlapped, resultDigest } = entry.record;
    entry.record = structuredClone({ ...record, missed, overlapped, resultDigest });
    if (!record.spec.enabled) {
      for (const run of waiting(entry)) {
        if (run.slotAt !== undefined) end(entry, run, { state: "dropped", endedAt: record.cursor });
      }
    }
    return Promise.resolve(true);
  }

  remove(id: string): Promise<boolean> {
    return Promise.resolve(this.#entries.delete(id));
  }

  due(now: number, limit: number): Promise<AutomationRecord[]> {
    const due = this.#records().filter(({ nextAt }) => nextAt !== undefined && nextAt <= now);
    return copied(due.sort((a, b) => a.nextAt! - b.nextAt!).slice(0, limit));
  }

  ahead(at: number, limit: number): Promise<AutomationRecord[]> {
    const ahead = this.#records().filter(({ spec, cursor }) => spec.enabled && cursor > at);
    return copied(ahead.slice(0, limit));
  }

  claim(claim: Claim): Promise<boolean> {
    const entry = this.#entries.get(claim.automationId);
    if (
      entry === undefined || !entry.record.spec.enabled ||
      entry.record.revision !== claim.revision || entry.record.cursor !== claim.fromCursor
    ) return Promise.resolve(false);
    const { record } = entry;
    record.cursor = claim.cursor;
    record.nextAt = claim.nextAt;
    record.missed += claim.missed;
    const fresh = claim.runs.filter(({ key }) => runOf(entry, key) === undefined);
    if (record.spec.overlap === "skip" && (isRunning(entry) || waiting(entry).length > 0)) {
      record.overlapped += fresh.length;
      return Promise.resolve(true);
    }
    for (const { key, slotAt } of fresh) this.#add(entry, key, claim.now, slotAt);
    // One that has made an attempt has run: it does not become one that was missed.
    const slots = waiting(entry).filter((run) => run.slotAt !== undefined && run.attempts === 0);
    for (const run of slots.slice(0, Math.max(0, waiting(entry).length - MAX_WAITING))) {
      entry.runs.delete(run.rowid);
      record.missed += 1;
    }
    return Promise.resolve(true);
  }

  request(
    { automationId, key, now }: { automationId: string; key: RequestKey; now: number },
  ): Promise<AutomationRun | undefined> {
    const entry = this.#entries.get(automationId);
    if (entry === undefined) return Promise.resolve(undefined);
    const known = runOf(entry, key);
    if (known === undefined && waiting(entry).length >= MAX_WAITING) {
      return Promise.reject(
        new ServiceError(
          "queue_full",
          `Cannot run automation ${JSON.stringify(automationId)}: ${MAX_WAITING} runs of it wait`,
        ),
      );
    }
    return copied(known ?? this.#add(entry, key, now));
  }

  wakeAt(): Promise<number | undefined> {
    const times = this.#records().flatMap(({ nextAt }) => nextAt ?? []);
    times.push(...this.#heads().map(({ notBefore }) => notBefore));
    return Promise.resolve(times.length === 0 ? undefined : Math.min(...times));
  }

  ready(now: number, limit: number): Promise<AutomationRun[]> {
    const ready = this.#heads().filter(({ notBefore }) =>
      notBefore <= now || notBefore > now + MAX_AHEAD_MS
    );
    ready.sort((a, b) => a.notBefore - b.notBefore || a.rowid - b.rowid);
    return copied(ready.slice(0, limit));
  }

  running(afterRowid: number, limit: number): Promise<AutomationRun[]> {
    const running = [...this.#entries.values()].flatMap(({ runs }) => [...runs.values()])
      .filter(({ state, rowid }) => state === "running" && rowid > afterRowid);
    return copied(running.sort((a, b) => a.rowid - b.rowid).slice(0, limit));
  }

  begin(rowid: number): Promise<AutomationRun | undefined> {
    const { entry, run } = this.#locate(rowid);
    if (run?.state !== "waiting" || isRunning(entry!)) return Promise.resolve(undefined);
    run.state = "running";
    run.attempts += 1;
    run.turnId = undefined;
    return copied(run);
  }

  accepted(rowid: number, attempt: number, turnId: string): Promise<boolean> {
    const { run } = this.#locate(rowid);
    if (run?.state !== "running" || run.attempts !== attempt) return Promise.resolve(false);
    run.turnId = turnId;
    return Promise.resolve(true);
  }

  settle({ rowid, attempt, state, retryAt, error, resultDigest, now }: Settlement) {
    const { entry, run } = this.#locate(rowid);
    if (run?.state !== "running" || run.attempts !== attempt) return Promise.resolve(false);
    run.error = error;
    const goesOn = run.slotAt === undefined || entry!.record.spec.enabled;
    if (retryAt !== undefined && goesOn) {
      run.state = "waiting";
      run.notBefore = retryAt;
      return Promise.resolve(true);
    }
    if (resultDigest !== undefined) entry!.record.resultDigest = resultDigest;
    end(entry!, run, { state, endedAt: now });
    return Promise.resolve(true);
  }

  history(automationId: string, beforeRowid: number, limit: number): Promise<AutomationRun[]> {
    const runs = [...this.#entries.get(automationId)?.runs.values() ?? []];
    return copied(runs.filter(({ rowid }) => rowid < beforeRowid).reverse().slice(0, limit));
  }

  #records(): AutomationRecord[] {
    return [...this.#entries.values()].map(({ record }) => record);
  }

  /** Of each automation without a run that runs, the run that is next. */
  #heads(): AutomationRun[] {
    return [...this.#entries.values()].flatMap((entry) =>
      isRunning(entry) ? [] : head(waiting(entry))
    );
  }

  #locate(rowid: number): { entry?: Entry; run?: AutomationRun } {
    for (const entry of this.#entries.values()) {
      const run = entry.runs.get(rowid);
      if (run !== undefined) return { entry, run };
    }
    return {};
  }

  #add({ record, runs }: Entry, key: RequestKey, now: number, slotAt?: number): AutomationRun {
    const rowid = ++this.#lastRowid;
    const run: AutomationRun = {
      rowid,
      automationId: record.id,
      key: { ...key },
      slotAt,
      claimedAt: now,
      state: "waiting",
      attempts: 0,
      notBefore: now,
    };
    runs.set(rowid, run);
    return run;
  }
}

function runOf({ runs }: Entry, { scope, key }: RequestKey): AutomationRun | undefined {
  return [...runs.values()].find((run) => run.key.scope === scope && run.key.key === key);
}

function waiting({ runs }: Entry): AutomationRun[] {
  return [...runs.values()].filter(({ state }) => state === "waiting");
}

/** What somebody asked for goes before slots: it does not wait for the next attempt of one. */
function head(runs: AutomationRun[]): AutomationRun[] {
  const asked = runs.find(({ slotAt }) => slotAt === undefined);
  return asked === undefined ? runs.slice(0, 1) : [asked];
}

function isRunning({ runs }: Entry): boolean {
  return [...runs.values()].some(({ state }) => state === "running");
}

function end(
  { runs }: Entry,
  run: AutomationRun,
  ending: Required<Pick<AutomationRun, "state" | "endedAt">>,
): void {
  Object.assign(run, ending);
  const ended = [...runs.values()].filter(({ endedAt }) => endedAt !== undefined);
  for (const { rowid } of ended.slice(0, Math.max(0, ended.length - MAX_HISTORY))) {
    runs.delete(rowid);
  }
}

/** Copies go out: what a caller changes is not what is kept. */
function copied<T>(value: T): Promise<T> {
  return Promise.resolve(structuredClone(value));
}
