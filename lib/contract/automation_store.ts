/**
 * Where automations and their runs are kept. {@linkcode MemoryAutomationStore} is the reference;
 * `testing/store_contract.ts` holds the tests that every store passes.
 *
 * Each call is one transaction: all of it or nothing is there when it resolves, and nothing of another
 * call comes between. What a store hands out belongs to the caller, and changing it changes nothing.
 * Instants are milliseconds since 1970. No call's work grows with how many runs have ended.
 *
 * @module
 */

import type { RequestKey } from "./journal.ts";
import type { AutomationRecord, AutomationRun } from "./automation_record.ts";

/** Slots that an automation takes up, decided upon a record as it was read. */
export interface Claim {
  automationId: string;
  /** Of the record that was read; another one there now, or another cursor, refuses the claim. */
  revision: number;
  fromCursor: number;
  /** New runs, oldest first. One whose key is on record is left out: it was claimed before. */
  runs: { key: RequestKey; slotAt: number }[];
  /** Added to the record's count. */
  missed: number;
  cursor: number;
  nextAt?: number;
  now: number;
}

/** How an attempt of a run ended. */
export interface Settlement {
  rowid: number;
  /** Which attempt; another one by now, or a run that does not run, refuses the settlement. */
  attempt: number;
  state: "done" | "failed" | "expired";
  /** For `failed`: the run waits for its next attempt until then, and has not ended. */
  retryAt?: number;
  error?: string;
  /** Kept in the record as the last result's. */
  resultDigest?: string;
  now: number;
}

/** A store. A method throws what its database throws; a refusal by a rule of here is a value. */
export interface AutomationStore {
  /**
   * Adds a record. False when its id is taken. Throws `overloaded` past `MAX_AUTOMATIONS`.
   */
  create(record: AutomationRecord): Promise<boolean>;
  find(id: string): Promise<AutomationRecord | undefined>;
  /** In the order of ids (by code unit), after one. */
  list(afterId: string, limit: number): Promise<AutomationRecord[]>;
  /**
   * Puts a record in place of the one with its id. False when that is not as it was `read` any more:
   * another revision, or another cursor, which a claim has moved. Read it anew and try again. The counts and the result's digest stay as they are on record. When the new one is switched off,
   * its runs of slots that wait end as `dropped`.
   */
  replace(record: AutomationRecord, read: AutomationRecord): Promise<boolean>;
  /** Removes a record with its runs. False when there is none. */
  remove(id: string): Promise<boolean>;

  /** Records whose `nextAt` has come, the earliest first. */
  due(now: number, limit: number): Promise<AutomationRecord[]>;
  /** Records that are switched on and whose cursor is later than `at`, in any order. */
  ahead(at: number, limit: number): Promise<AutomationRecord[]>;
  /**
   * Moves the cursor and adds runs. False when the record is gone, switched off, or not as it was
   * read. With overlap `skip`, nothing is added while a run of it waits or runs: all new ones are
   * counted as overlapped. When more than `MAX_WAITING` would wait, the oldest slots that have made
   * no attempt yet are left out and counted as missed.
   */
  claim(claim: Claim): Promise<boolean>;
  /**
   * Adds a run that somebody asked for, also while the automation is switched off or runs. The run
   * of that key when there is one; undefined without such an automation. Throws `queue_full` when
   * `MAX_WAITING` wait.
   */
  request(
    run: { automationId: string; key: RequestKey; now: number },
  ): Promise<AutomationRun | undefined>;

  /** When something is to be done next: the earliest `nextAt`, or `notBefore` of a run of `ready`. */
  wakeAt(): Promise<number | undefined>;
  /**
   * Runs that wait and may begin: of each automation without a run that runs the oldest that somebody
   * asked for, else the oldest of a slot, when its `notBefore` has come. One that is later than `MAX_AHEAD_MS` from now has
   * come too: no attempt waits for so long, so the clock was set back. The earliest `notBefore` first,
   * then the order of claims.
   */
  ready(now: number, limit: number): Promise<AutomationRun[]>;
  /** Runs that run, in the order of claims, after one. */
  running(afterRowid: number, limit: number): Promise<AutomationRun[]>;
  /**
   * Counts an attempt of a waiting run and marks it as running. Undefined when it does not wait any
   * more, or another run of its automation runs.
   */
  begin(rowid: number): Promise<AutomationRun | undefined>;
  /** Notes the turn of an attempt. False as for `settle`. */
  accepted(rowid: number, attempt: number, turnId: string): Promise<boolean>;
  /**
   * Ends an attempt. False when it is not the one that runs. A run that would wait for its next
   * attempt ends as failed when it is of a slot and its automation has been switched off.
   */
  settle(settlement: Settlement): Promise<boolean>;

  /** Runs of an automation, newest first, before one. Of those that ended, `MAX_HISTORY` are kept. */
  history(automationId: string, beforeRowid: number, limit: number): Promise<AutomationRun[]>;
}
