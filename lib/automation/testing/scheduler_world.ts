/**
 * Schedulers over one store and one fake journal, on a clock that tests move by hand.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import { type FakeClock, fakeClock } from "../../agent/testing/fake_clock.ts";
import { newAutomation } from "../../schedule/automation_record.ts";
import type { Automation } from "../../contract/automation.ts";
import type { AutomationStore } from "../../contract/automation_store.ts";
import { MemoryAutomationStore } from "./memory_automation_store.ts";
import { Scheduler } from "../scheduler.ts";
import { FakeTurns } from "./fake_turns.ts";
import { START, testSpec } from "./test_spec.ts";

/** Calls that a process still makes until it dies: between any two of them, and in their middle. */
export interface Fate {
  steps: number;
}

export class SchedulerWorld {
  readonly ticking: FakeClock = fakeClock(START);
  /** Added to the wall clock alone, as if it were set. */
  setAheadMs = 0;
  readonly store: AutomationStore = new MemoryAutomationStore();
  readonly turns = new FakeTurns(() => this.ticking.now());
  readonly errors: unknown[] = [];
  maxRunning = 4;

  /** Milliseconds since 1970, as the wall clock of this world shows. */
  readonly now = (): number => this.ticking.now() + this.setAheadMs;

  async add(id: string, change: Partial<Automation> = {}): Promise<void> {
    await this.store.create(newAutomation(id, testSpec(change), this.now()));
  }

  /** Starts a scheduler, which dies by its fate: from then on nothing that it calls answers. */
  start(fate: Fate = { steps: Infinity }): Scheduler {
    const scheduler = new Scheduler({
      store: mortal(this.store, fate),
      turns: mortal(this.turns, fate),
      clock: { now: this.now, after: (ms, run) => this.ticking.after(ms, run) },
      maxRunning: this.maxRunning,
      onError: (error) => this.errors.push(error),
    });
    scheduler.start();
    return scheduler;
  }

  /** Lets time go by, in steps, and everybody do what they do then. */
  async pass(ms: number, stepMs = 30_000): Promise<void> {
    await settle();
    for (let left = ms; left > 0; left -= stepMs) {
      this.ticking.tick(Math.min(left, stepMs));
      this.turns.tell();
      await settle();
    }
  }
}

/** Lets time go by until nothing is due, waits or runs any more; throws when that never comes. */
export async function workOff(world: SchedulerWorld): Promise<void> {
  for (let round = 0; round < 500; round++) {
    const running = await world.store.running(0, 1);
    if (running.length === 0 && await world.store.wakeAt() === undefined) return;
    await world.pass(2 * 60_000, 2 * 60_000);
  }
  throw new Error("work is left for ever");
}

/** Everything here is done in promises: after a turn of the event loop, all of them are. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

function mortal<T extends object>(port: T, fate: Fate): T {
  const never = new Promise<never>(() => {});
  return new Proxy(port, {
    get(target, name) {
      const method = Reflect.get(target, name) as (...given: unknown[]) => Promise<unknown>;
      return async (...given: unknown[]) => {
        if (--fate.steps < 0) return await never;
        const result = await method.apply(target, given);
        if (--fate.steps < 0) return await never;
        return result;
      };
    },
  });
}
