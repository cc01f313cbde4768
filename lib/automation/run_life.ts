/**
 * One attempt of a run: begun, accepted as a turn, followed to its end, delivered, settled. A crash
 * between any two steps is made good by doing them again: each is one that a repeat does not double.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import type { AutomationRun } from "../contract/automation_record.ts";
import { MAX_WAIT_MS } from "../schedule/automation_record.ts";
import type { AutomationStore } from "../contract/automation_store.ts";
import type { AutomationTurns } from "./automation_turns.ts";
import { deliveryDecision, type RunResult } from "./delivery_decision.ts";
import { retryWaitMs } from "./retry_wait.ts";
import { attemptKey } from "./slot_key.ts";

/** What {@linkcode beginRun} and {@linkcode followRun} need. */
export interface RunLifeDependencies {
  store: AutomationStore;
  turns: AutomationTurns;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Whether turns may be refused because the service stops, which is no failure of a run. */
  isStopping: () => boolean;
}

/** Longest text of an error that is kept, characters. */
const MAX_ERROR_CHARS = 500;

/**
 * Begins a run that waits and follows it. Rejects with what the store or the outbox threw, the run
 * then stays as it is on record; and when the signal aborts.
 */
export async function beginRun(
  rowid: number,
  dependencies: RunLifeDependencies,
  signal: AbortSignal,
): Promise<void> {
  const run = await dependencies.store.begin(rowid);
  if (run !== undefined) await followRun(run, dependencies, signal);
}

/** Goes on with a run that runs, from wherever it stands; rejects as {@linkcode beginRun} does. */
export async function followRun(
  run: AutomationRun,
  { store, turns, now, isStopping }: RunLifeDependencies,
  signal: AbortSignal,
): Promise<void> {
  const automation = await store.find(run.automationId);
  if (automation === undefined) return;
  const { rowid, attempts: attempt } = run;
  let { turnId } = run;

  if (turnId === undefined) {
    // Later the journal may have forgotten the key, and a turn that it has would be opened again.
    const waitedMs = now() - Math.max(run.claimedAt, run.notBefore);
    if (waitedMs > MAX_WAIT_MS) {
      await store.settle({ rowid, attempt, state: "expired", now: now() });
      return;
    }
    try {
      turnId = await turns.accept({ automation, key: attemptKey(run.key, attempt) });
    } catch (error) {
      if (isStopping()) throw error;
      await settle(run, { status: "failed", error: textOf(error) });
      return;
    }
    if (!await store.accepted(rowid, attempt, turnId)) return;
  }
  await settle(run, await turns.result(turnId, signal), turnId);

  async function settle(run: AutomationRun, result: RunResult, turnId?: string): Promise<void> {
    // As it is now: where the answer goes may have been changed, or all of it deleted.
    const current = await store.find(run.automationId);
    if (current === undefined) return;
    const error = result.status === "failed" ? result.error.slice(0, MAX_ERROR_CHARS) : undefined;
    // Switched off meanwhile, a slot makes no further attempt: then this was the last one, and is
    // told as such.
    const goesOn = run.slotAt === undefined || current.spec.enabled;
    const waitMs = error === undefined || !goesOn
      ? undefined
      : retryWaitMs(attempt, current.spec.retries);
    const ending = { rowid, attempt, state: result.status, error, now: now() };
    if (waitMs !== undefined) {
      await store.settle({ ...ending, retryAt: ending.now + waitMs });
      return;
    }
    const { delivery } = current.spec;
    const decision = deliveryDecision(current.resultDigest, result, delivery?.when ?? "change");
    const resultDigest = decision.digest;
    if (delivery === undefined || !decision.deliver) {
      await store.settle({ ...ending, resultDigest });
      return;
    }
    // Before the run is settled, so that a crash in between delivers it, under an id that is its own.
    const id = `${run.key.scope}/${run.key.key}`;
    try {
      await turns.deliver({ id, turnId, automation: current, delivery, result });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // It would be refused for ever, and the automation would never run again.
      const undelivered = `Its result cannot be delivered: ${textOf(error)}`;
      await store.settle({
        ...ending,
        resultDigest,
        state: "failed",
        error: undelivered.slice(0, MAX_ERROR_CHARS),
      });
      return;
    }
    await store.settle({ ...ending, resultDigest });
  }
}

/** What no repeat changes. */
function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && error.code === "invalid_request";
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
