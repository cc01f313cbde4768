/**
 * Runs automations when they are due: one timer for all of them, and nothing in memory that a restart
 * would miss. What is due is claimed in the store in one step with what is counted as missed, so that
 * each slot runs once or is counted once, whatever crashes and however many schedulers share a store.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import type { AutomationRecord } from "../contract/automation_record.ts";
import { MAX_AHEAD_MS, rewoundAutomation } from "../schedule/automation_record.ts";
import type { AutomationStore } from "../contract/automation_store.ts";
import type { AutomationTurns } from "./automation_turns.ts";
import { type DueSlots, dueSlots } from "../schedule/due_slots.ts";
import { beginRun, followRun } from "./run_life.ts";
import { slotKey } from "./slot_key.ts";

/** Longest sleep: a timer does not notice that the wall clock was set, or that the machine slept. */
const MAX_SLEEP_MS = 60_000;

/** Shortest sleep, so that two schedulers that share a store do not chase each other. */
const MIN_SLEEP_MS = 10;

/** Wait after a failure of the store, so that a full disk is not tried without pause. */
const FAILED_SLEEP_MS = 5_000;

/** Rows that are read at once. */
const PAGE = 64;

/** What a {@linkcode Scheduler} needs. */
export interface SchedulerDependencies {
  store: AutomationStore;
  turns: AutomationTurns;
  clock: Pick<Clock, "now" | "after">;
  /** Runs that go on at once; more wait. Those that a restart left are followed beside them. */
  maxRunning: number;
  /** Told what a store or an outbox threw; the work is done again later. */
  onError: (error: unknown) => void;
}

/** Whoever changes the store calls {@linkcode Scheduler.wake} afterwards. */
export class Scheduler {
  readonly #deps: SchedulerDependencies;
  readonly #stopping = new AbortController();
  /** What runs is followed no longer. */
  readonly #leaving = new AbortController();
  /** Runs that this scheduler follows, by row. */
  readonly #followed = new Map<number, Promise<void>>();
  #cancelTimer: (() => void) | undefined;
  #round: Promise<void> | undefined;
  #again = false;
  #adopted = false;

  constructor(dependencies: SchedulerDependencies) {
    this.#deps = dependencies;
  }

  /** Goes on with what runs and looks for what is due. Does nothing after {@linkcode stop}. */
  start(): void {
    this.wake();
  }

  /** Looks for what is due: something in the store has changed. */
  wake(): void {
    if (this.#stopping.signal.aborted) return;
    this.#again = true;
    this.#round ??= this.#rounds().finally(() => this.#round = undefined);
  }

  /** Begins nothing more, and follows what runs still. */
  async pause(): Promise<void> {
    this.#stopping.abort();
    this.#cancelTimer?.();
    await this.#round;
  }

  /**
   * Begins nothing more. Resolves when nothing of it is under way: what has not been followed to its end
   * within `graceMs` goes on without it.
   */
  async stop({ graceMs = 0 }: { graceMs?: number } = {}): Promise<void> {
    await this.pause();
    const followed = Promise.allSettled(this.#followed.values());
    if (graceMs > 0) {
      const late = Promise.withResolvers<void>();
      const cancelTimer = this.#deps.clock.after(graceMs, late.resolve);
      await Promise.race([followed, late.promise]);
      cancelTimer();
    }
    this.#leaving.abort();
    await followed;
  }

  /** Resolves when nothing is being looked for; runs may go on. */
  async idle(): Promise<void> {
    while (this.#round !== undefined) await this.#round;
  }

  /** Runs that are followed now. */
  get running(): number {
    return this.#followed.size;
  }

  async #rounds(): Promise<void> {
    while (this.#again && !this.#stopping.signal.aborted) {
      this.#again = false;
      let sleepMs = FAILED_SLEEP_MS;
      try {
        sleepMs = await this.#work();
      } catch (error) {
        this.#deps.onError(error);
      }
      this.#sleep(sleepMs);
    }
  }

  #sleep(ms: number): void {
    this.#cancelTimer?.();
    if (this.#stopping.signal.aborted) return;
    this.#cancelTimer = this.#deps.clock.after(ms, () => this.wake());
  }

  /** One round; how long to sleep after it. */
  async #work(): Promise<number> {
    const { store, clock, maxRunning } = this.#deps;
    if (!this.#adopted) await this.#adopt();
    await this.#rewind(clock.now());
    await this.#claimDue();
    await this.#beginReady();
    const wakeAt = await store.wakeAt();
    // What is due and has no room waits for a run to end, which wakes.
    const full = this.#followed.size >= maxRunning;
    const longestMs = this.#adopted ? MAX_SLEEP_MS : FAILED_SLEEP_MS;
    const waitMs = (wakeAt ?? Infinity) - clock.now();
    return waitMs <= 0 && full ? longestMs : Math.max(MIN_SLEEP_MS, Math.min(waitMs, longestMs));
  }

  /** Follows the runs that were going on when the process before this one ended. */
  async #adopt(): Promise<void> {
    let after = 0;
    while (!this.#stopping.signal.aborted) {
      const page = await this.#deps.store.running(after, PAGE);
      for (const run of page) {
        this.#follow(run.rowid, (signal) => followRun(run, this.#life, signal));
        after = run.rowid;
      }
      if (page.length < PAGE) break;
    }
    this.#adopted = true;
  }

  /**
   * After the clock ran far ahead and was set back, cursors stand in a future that is long to come.
   * Slots that ran meanwhile have keys, and do not run again.
   */
  async #rewind(now: number): Promise<void> {
    const { store } = this.#deps;
    for (const record of await store.ahead(now + MAX_AHEAD_MS, PAGE)) {
      // Another one that did it first, or changed the record, is as good.
      await store.replace(rewoundAutomation(record, now), record);
    }
  }

  async #claimDue(): Promise<void> {
    const { store, clock } = this.#deps;
    const now = clock.now();
    while (!this.#stopping.signal.aborted) {
      const page = await store.due(now, PAGE);
      for (const record of page) await this.#claim(record, now);
      if (page.length < PAGE) return;
    }
  }

  async #claim(record: AutomationRecord, now: number): Promise<void> {
    const { id, revision, cursor: fromCursor } = record;
    let due: DueSlots;
    try {
      due = dueSlots(record, now);
    } catch (error) {
      // A zone that this version does not know any more: it rests until it is changed, and holds up
      // no other.
      this.#deps.onError(error);
      due = { run: [], missed: 0, cursor: fromCursor };
    }
    const { run, missed, cursor, nextAt } = due;
    const runs = run.map((slotAt) => ({ key: slotKey(id, slotAt), slotAt }));
    const counted = { missed, cursor, nextAt, now };
    // When another claimed it, or it was changed, it comes up again if something is due still.
    await this.#deps.store.claim({ automationId: id, revision, fromCursor, runs, ...counted });
  }

  async #beginReady(): Promise<void> {
    const { store, clock, maxRunning } = this.#deps;
    const room = maxRunning - this.#followed.size;
    if (room <= 0 || this.#stopping.signal.aborted) return;
    for (const { rowid } of await store.ready(clock.now(), room)) {
      this.#follow(rowid, (signal) => beginRun(rowid, this.#life, signal));
    }
  }

  get #life() {
    const { store, turns, clock } = this.#deps;
    return {
      store,
      turns,
      now: () => clock.now(),
      isStopping: () => this.#stopping.signal.aborted,
    };
  }

  #follow(rowid: number, work: (signal: AbortSignal) => Promise<void>): void {
    if (this.#followed.has(rowid)) return;
    const { signal } = this.#leaving;
    const following = work(signal).then(() => {
      this.#followed.delete(rowid);
      this.wake();
    }, (error) => {
      this.#followed.delete(rowid);
      // What was refused because all is stopping is taken up by the next start.
      if (this.#stopping.signal.aborted) return;
      this.#deps.onError(error);
      // It may run on record: adopting it again, after a pause, goes on from where it stands.
      this.#adopted = false;
      this.#sleep(FAILED_SLEEP_MS);
    });
    this.#followed.set(rowid, following);
  }
}
