/**
 * Keeps one instance of a channel as it is wanted: off, or running, and started again when it ends.
 *
 * One loop looks at what is wanted and what there is, and does the next step; everything that happens
 * only wakes it. So two steps never overlap, and of many changes the last one counts.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { BuiltChannel } from "../../channel/channel_link.ts";
import type { ChannelSpec } from "../../channel/channel_spec.ts";
import type { ChannelState, ChannelStatus } from "../../channel/channel_status.ts";
import type { Verification, VerifyAction } from "../../channel/verification.ts";
import type { Deliveries } from "../../channel/deliveries.ts";
import { BackOff, STEADY_MS } from "./back_off.ts";
import { LiveChannel, wordsOf } from "./live_channel.ts";
import { Pause } from "./pause.ts";

/** What running an instance takes. */
export interface RunnerDeps {
  /** Makes the runtime, not started. Rejects with what is wrong, for people; nothing is left then. */
  build: (spec: ChannelSpec) => Promise<BuiltChannel>;
  deliveries: Pick<Deliveries, "attach" | "wake">;
  clock: Clock;
  /** From 0 to below 1. */
  random: () => number;
  log: Pick<Log, "info" | "warning">;
}

/** Milliseconds that a runtime which is replaced or switched off gets to end what is being sent. */
const RETIRE_MS = 10_000;

/** Milliseconds for one that was made and never started. */
const UNSTARTED_MS = 1_000;

export class Runner {
  /** Resolves when it is over. */
  readonly done: Promise<void>;
  readonly #deps: RunnerDeps;
  readonly #pause: Pause;
  readonly #backOff: BackOff;
  /** Resolves when a stop waits no longer. */
  readonly #hurry = Promise.withResolvers<void>();
  readonly #onGone: () => void;
  #wanted: ChannelSpec | undefined;
  #retireMs = RETIRE_MS;
  #current: LiveChannel | undefined;
  #state: ChannelState = "off";
  #sinceMs: number;
  /** Why it does not run. */
  #fault: string | undefined;
  /** Why what is wanted is not what runs. */
  #refusal: string | undefined;
  #restarts = 0;
  /** The problem of the spec that the log was told of last. */
  #told: string | undefined;
  /** Fingerprint of what its platform does not let in: that is not tried again. */
  #refused: string | undefined;
  /** Fingerprint of what could not be made. */
  #unmade: string | undefined;
  /** Not before this, by the clock's elapsed time. */
  #notBeforeMs = 0;
  #isAgain = false;

  /** `onGone` is called when nothing is wanted and nothing runs any more: then it is over. */
  constructor(deps: RunnerDeps, wanted: ChannelSpec, onGone: () => void) {
    this.#deps = deps;
    this.#pause = new Pause(deps.clock);
    this.#backOff = new BackOff(deps.random);
    this.#wanted = wanted;
    this.#sinceMs = deps.clock.now();
    this.#onGone = onGone;
    this.done = this.#loop();
  }

  /** What has the runtime name: what runs, else what is wanted. */
  get holder(): ChannelSpec | undefined {
    return this.#current?.spec ?? this.#wanted;
  }

  /** From now on this is wanted; undefined: nothing, and it is over when it has stopped. */
  want(spec: ChannelSpec | undefined): void {
    if (
      spec?.fingerprint !== this.#wanted?.fingerprint || spec?.problem !== this.#wanted?.problem
    ) {
      // What went wrong is no word about this one.
      this.#backOff.reset();
      this.#notBeforeMs = 0;
    }
    // Other settings are a change, also where the ones before come back after them.
    if (spec?.enabled !== true || spec.fingerprint !== this.#refused) this.#refused = undefined;
    this.#wanted = spec;
    this.#pause.end();
  }

  /** Nothing is wanted any more; what is being sent gets so long. */
  retire(graceMs: number): void {
    this.#retireMs = Math.min(graceMs, RETIRE_MS);
    this.want(undefined);
  }

  /** What still waits for something that ends waits no longer. */
  hurry(): void {
    this.#hurry.resolve();
  }

  /** Undefined while nothing runs. */
  verify(action: VerifyAction): Promise<Verification> | undefined {
    return this.#current?.verify(action);
  }

  status(spec: ChannelSpec): Omit<ChannelStatus, "deliveries"> {
    const { runtimeName, channel, instanceId, displayName } = spec;
    const detail = this.#current?.detail;
    const problem = this.#refusal ?? this.#fault;
    return {
      runtimeName,
      channel,
      ...instanceId !== undefined && { instanceId },
      displayName,
      state: this.#state,
      ...detail !== undefined && { detail },
      ...problem !== undefined && { problem },
      since: this.#sinceMs,
      restarts: this.#restarts,
    };
  }

  async #loop(): Promise<void> {
    for (;;) {
      try {
        if (await this.#step()) return;
      } catch (error) {
        // A fault of ours in one step must not leave an instance without anybody who looks after it.
        const waitMs = this.#wait();
        this.#deps.log.warning("A step of a channel failed", { reason: wordsOf(error), waitMs });
        await this.#pause.wait(waitMs);
      }
    }
  }

  /** Does what is next, or waits where nothing is. True when it is over. */
  async #step(): Promise<boolean> {
    const spec = this.#wanted;
    const current = this.#current;
    this.#tell(spec);
    if (current?.ended !== undefined) {
      await this.#bury(current, current.ended);
    } else if (spec === undefined || !spec.enabled) {
      if (current !== undefined) await this.#retire(current);
      else if (spec === undefined) {
        // At once, so that what is wanted next is wanted of a new one.
        this.#onGone();
        return true;
      } else await this.#rest("off");
    } else if (spec.problem !== undefined) {
      if (current === undefined) await this.#rest("failed", spec.problem);
      else {
        this.#refuse(spec.problem);
        await this.#pause.wait();
      }
    } else if (current === undefined && this.#refused === spec.fingerprint) {
      // As it was put: a platform that is asked again and again may lock the account.
      await this.#pause.wait();
    } else if (current?.spec.fingerprint === spec.fingerprint) {
      this.#refusal = undefined;
      await current.deliverAs(spec);
      await this.#pause.wait();
    } else {
      const leftMs = this.#notBeforeMs - this.#deps.clock.elapsed();
      if (leftMs > 0) await this.#pause.wait(leftMs);
      else await this.#renew(spec);
    }
    return false;
  }

  /** Once for each problem: whoever starts a service does not look at its status by himself. */
  #tell(spec: ChannelSpec | undefined): void {
    const problem = spec?.enabled ? spec.problem : undefined;
    if (problem === this.#told) return;
    this.#told = problem;
    if (problem === undefined) return;
    this.#deps.log.warning("A channel cannot be used as it is configured", {
      channel: spec!.runtimeName,
      problem,
    });
  }

  /** Nothing runs and nothing is to be done, until something else is wanted. */
  async #rest(state: "off" | "failed", problem?: string): Promise<void> {
    this.#fault = problem;
    this.#refusal = undefined;
    this.#restarts = 0;
    this.#isAgain = false;
    this.#backOff.reset();
    this.#notBeforeMs = 0;
    this.#set(state);
    await this.#pause.wait();
  }

  /** Makes what is wanted, and puts it in the place of what runs. */
  async #renew(spec: ChannelSpec): Promise<void> {
    // One that could not be made is shown as such while it is tried again.
    if (this.#current === undefined && this.#unmade !== spec.fingerprint) this.#set("starting");
    let built: BuiltChannel;
    try {
      built = await this.#deps.build(spec);
    } catch (error) {
      return this.#notBuilt(spec, wordsOf(error));
    }
    if (this.#current !== undefined && this.#isWanted(spec)) await this.#retire(this.#current);
    if (!this.#isWanted(spec)) return await built.stop(UNSTARTED_MS);
    try {
      this.#start(built, spec);
    } catch (error) {
      // Nobody would hold it any more.
      await built.stop(UNSTARTED_MS);
      throw error;
    }
  }

  #isWanted({ fingerprint }: ChannelSpec): boolean {
    const wanted = this.#wanted;
    return wanted !== undefined && wanted.enabled && wanted.problem === undefined &&
      wanted.fingerprint === fingerprint;
  }

  #notBuilt(spec: ChannelSpec, problem: string): void {
    if (!this.#isWanted(spec)) return;
    this.#unmade = spec.fingerprint;
    const waitMs = this.#wait();
    const { runtimeName } = spec;
    this.#deps.log.warning("A channel cannot be started", {
      channel: runtimeName,
      problem,
      waitMs,
    });
    if (this.#current !== undefined) return this.#refuse(problem);
    this.#fault = problem;
    this.#set("failed");
  }

  /** What is wanted cannot run, and what runs goes on. */
  #refuse(problem: string): void {
    this.#refusal = `The new settings cannot be used, the ones before stay in force: ${problem}`;
  }

  #start(built: BuiltChannel, spec: ChannelSpec): void {
    this.#unmade = this.#refusal = this.#refused = undefined;
    if (this.#isAgain) this.#restarts += 1;
    this.#isAgain = false;
    this.#set("starting");
    const { deliveries, clock } = this.#deps;
    const onChange = () => this.#onChange();
    const hurry = this.#hurry.promise;
    this.#current = new LiveChannel({ spec, built, deliveries, clock, hurry, onChange });
    this.#onChange();
  }

  #onChange(): void {
    const current = this.#current;
    if (current === undefined || current.isRetiring) return;
    if (current.ended !== undefined) return this.#pause.end();
    if (current.isRunning) {
      this.#fault = undefined;
      if (this.#state !== "running") {
        this.#deps.log.info("A channel runs", { channel: current.spec.runtimeName });
      }
    }
    this.#set(current.isRunning ? "running" : "starting");
  }

  /** Puts away what has ended by itself; it is started again after a while. */
  async #bury(current: LiveChannel, reason: string): Promise<void> {
    if (current.ranMs >= STEADY_MS) this.#backOff.reset();
    const { spec } = current;
    // Whoever switches it off and on while it is put away means that, too.
    if (current.isRefused && this.#wanted?.fingerprint === spec.fingerprint) {
      this.#refused = spec.fingerprint;
    }
    await this.#retire(current);
    if (this.#wanted === undefined || !this.#wanted.enabled) return;
    if (this.#refused === spec.fingerprint && this.#wanted.fingerprint === spec.fingerprint) {
      return this.#putRefused(spec, reason);
    }
    this.#isAgain = true;
    this.#refusal = undefined;
    const waitMs = this.#wanted.fingerprint === spec.fingerprint ? this.#wait() : 0;
    this.#deps.log.warning("A channel has ended and is started again", {
      channel: spec.runtimeName,
      reason,
      waitMs,
    });
    this.#fault = reason;
    this.#set("waiting");
  }

  /** Nothing is tried until somebody has changed something. */
  #putRefused({ runtimeName }: ChannelSpec, reason: string): void {
    this.#deps.log.warning("A channel is not let in by its platform, and is not tried again", {
      channel: runtimeName,
      reason,
    });
    this.#refusal = undefined;
    this.#isAgain = false;
    this.#backOff.reset();
    this.#fault =
      `Its platform does not let it in: ${reason.replace(/[.\s]+$/, "")}. Nothing is tried ` +
      "again until its settings change, or it is switched off and on";
    this.#set("failed");
  }

  async #retire(current: LiveChannel): Promise<void> {
    this.#set("stopping");
    await current.retire(this.#retireMs);
    this.#current = undefined;
  }

  /** Counts a fault; returns the milliseconds until the next try. */
  #wait(): number {
    const waitMs = this.#backOff.next();
    this.#notBeforeMs = this.#deps.clock.elapsed() + waitMs;
    return waitMs;
  }

  #set(state: ChannelState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#sinceMs = this.#deps.clock.now();
  }
}
