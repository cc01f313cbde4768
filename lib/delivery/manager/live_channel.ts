/**
 * A runtime from its start to its end, with what is delivered over it in between.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { BuiltChannel } from "../../channel/channel_link.ts";
import type { ChannelSpec } from "../../channel/channel_spec.ts";
import { isLoginRefused } from "../../channel/delivery_error.ts";
import type { Verification, VerifyAction } from "../../channel/verification.ts";
import type { Deliveries } from "../../channel/deliveries.ts";

/** What a runtime is run with. */
export interface LiveChannelDeps {
  spec: ChannelSpec;
  /** Made, and not started. */
  built: BuiltChannel;
  deliveries: Pick<Deliveries, "attach" | "wake">;
  clock: Clock;
  /** Resolves when an end waits for nothing any more. */
  hurry: Promise<void>;
  /** Called whenever it runs or does not, says something of itself, or has ended. */
  onChange: () => void;
}

export class LiveChannel {
  readonly #deps: LiveChannelDeps;
  #spec: ChannelSpec;
  /** Of the deliveries over it, while there are any. */
  #detach: (() => Promise<void>) | undefined;
  /** What is sent over it is being ended. */
  #isDetaching = false;
  #wasRunning = false;
  #ranSinceMs: number | undefined;
  #ended: string | undefined;
  #isRefused = false;
  #isRetiring = false;

  /** Starts it. */
  constructor(deps: LiveChannelDeps) {
    this.#deps = deps;
    this.#spec = deps.spec;
    const { built } = deps;
    built.onChange = () => this.#look();
    built.start().then(
      () => this.#end("It ended by itself"),
      (error) => this.#end(wordsOf(error), isLoginRefused(error)),
    );
    built.refused.then((reason) => this.#end(reason, true));
    built.lost.then((reason) => this.#end(`It is gone: ${reason}`));
    this.#look();
  }

  get spec(): ChannelSpec {
    return this.#spec;
  }

  /** Why it has ended without having been retired; undefined while it has not. */
  get ended(): string | undefined {
    return this.#ended;
  }

  /** Whether it has ended because its platform does not let it in. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  get isRunning(): boolean {
    return this.#deps.built.isRunning;
  }

  get isRetiring(): boolean {
    return this.#isRetiring;
  }

  /** What it says of itself. */
  get detail(): string | undefined {
    return this.#deps.built.detail;
  }

  verify(action: VerifyAction): Promise<Verification> {
    return this.#deps.built.verify(action);
  }

  /** Milliseconds since it was first seen running; 0 when it never was. */
  get ranMs(): number {
    return this.#ranSinceMs === undefined ? 0 : this.#deps.clock.elapsed() - this.#ranSinceMs;
  }

  /** It runs as this, too: what is delivered over it, and how, may be another. */
  async deliverAs(spec: ChannelSpec): Promise<void> {
    const before = this.#spec;
    this.#spec = spec;
    if (this.#detach === undefined || deliveryOf(before) === deliveryOf(spec)) return;
    const detached = this.#detach();
    this.#detach = undefined;
    this.#isDetaching = true;
    await this.#within(detached, Infinity);
    this.#isDetaching = false;
    this.#look();
  }

  /** Ends it: first what is sent over it, then itself. */
  async retire(graceMs: number): Promise<void> {
    const { clock, built } = this.#deps;
    this.#isRetiring = true;
    const beganMs = clock.elapsed();
    const detached = this.#detach?.() ?? Promise.resolve();
    this.#detach = undefined;
    await this.#within(detached, graceMs);
    await built.stop(Math.max(0, graceMs - (clock.elapsed() - beganMs)));
    // What was being sent has been given up with it. Only one may be delivered over at a time.
    await this.#within(detached, Infinity);
  }

  #look(): void {
    if (this.#isRetiring || this.#ended !== undefined) return;
    const { built, deliveries, clock, onChange } = this.#deps;
    const { isRunning } = built;
    if (isRunning) {
      this.#ranSinceMs ??= clock.elapsed();
      if (this.#detach === undefined) {
        // One thing after the other is delivered over it, whatever it says of itself meanwhile.
        if (!this.#isDetaching) this.#detach = deliveries.attach(built, this.#spec);
      } else if (!this.#wasRunning) deliveries.wake(this.#spec.runtimeName);
    }
    this.#wasRunning = isRunning;
    onChange();
  }

  #end(reason: string, isRefused = false): void {
    if (this.#ended === undefined) {
      this.#ended = reason;
      this.#isRefused = isRefused;
    }
    this.#deps.onChange();
  }

  /** Waits for something at most so long, and no longer when there is a hurry. Never rejects. */
  async #within(promise: Promise<unknown>, ms: number): Promise<void> {
    const late = Promise.withResolvers<void>();
    const cancel = ms === Infinity ? () => {} : this.#deps.clock.after(ms, late.resolve);
    await Promise.race([promise.catch(() => {}), late.promise, this.#deps.hurry]);
    cancel();
  }
}

/** What deliveries go by. */
function deliveryOf({ capabilities, flags, sendMaxRetries }: ChannelSpec): string {
  return JSON.stringify([capabilities, flags, sendMaxRetries]);
}

/** An error in words. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
