/**
 * A link that delivers, for as long as it is attached.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import type { ChannelLink } from "../channel/channel_link.ts";
import type { ChannelSpec } from "../channel/channel_spec.ts";
import { metrics } from "../telemetry/metrics.ts";
import { traced, traceOf } from "../telemetry/trace.ts";
import { attempt, type Outcome } from "./attempt.ts";

/** What of an instance counts for deliveries. */
export type DeliverySpec = Pick<ChannelSpec, "capabilities" | "flags" | "sendMaxRetries">;

const DELIVERIES = metrics.counter({
  name: "service_deliveries_total",
  help: "Calls of channels to deliver something, by how they came out",
  labels: ["channel", "outcome"],
});

export class Attachment {
  readonly #link: ChannelLink;
  readonly #spec: DeliverySpec;
  readonly #deps: { clock: Pick<Clock, "after">; timeoutMs: number };
  #isAttached = true;
  #calling = 0;
  readonly #idle = Promise.withResolvers<void>();
  /** Called with what each call came to. */
  onOutcome: ((outcome: Outcome) => void) | undefined;

  constructor(
    link: ChannelLink,
    spec: DeliverySpec,
    deps: { clock: Pick<Clock, "after">; timeoutMs: number },
  ) {
    this.#link = link;
    this.#spec = spec;
    this.#deps = deps;
  }

  /** Whether something may be given to it now. */
  get isLive(): boolean {
    return this.#isAttached && this.#link.isRunning;
  }

  get takesStreams(): boolean {
    return this.#isAttached && this.#link.supportsStreaming;
  }

  get flags(): DeliverySpec["flags"] {
    return this.#spec.flags;
  }

  get showsReasoning(): boolean {
    return this.#spec.flags.showReasoning && this.#spec.capabilities.includes("reasoning");
  }

  /** Whether it shows what tools say while they run. */
  get showsProgress(): boolean {
    return this.#spec.capabilities.includes("progress");
  }

  get takesFiles(): boolean {
    return this.#spec.capabilities.includes("media");
  }

  /** Whether it can tell a message that it has had before. */
  get isIdempotent(): boolean {
    return this.#spec.capabilities.includes("idempotent_send");
  }

  /** At least one (C23). */
  get maxAttempts(): number {
    return Math.max(1, this.#spec.sendMaxRetries);
  }

  /** Makes a call over the link, in the trace of what it delivers. Never rejects. */
  async call(
    make: (link: ChannelLink) => Promise<void>,
    turnId?: string,
  ): Promise<Outcome> {
    this.#calling++;
    const { runtimeName: channel } = this.#link;
    const options = {
      kind: "producer",
      attributes: { "service.channel": channel },
      parent: traceOf(turnId),
    } as const;
    try {
      const outcome = await traced(`deliver ${channel}`, options, async (span) => {
        const outcome = await attempt(() => make(this.#link), this.#deps);
        if (outcome.kind !== "done") span.fail(outcome.kind);
        return outcome;
      });
      DELIVERIES.add({ channel, outcome: outcome.kind });
      if (this.#isAttached) this.onOutcome?.(outcome);
      return outcome;
    } finally {
      if (--this.#calling === 0 && !this.#isAttached) this.#idle.resolve();
    }
  }

  /** Nothing is given to it any more; resolves when nothing is being sent. */
  detach(): Promise<void> {
    this.#isAttached = false;
    if (this.#calling === 0) this.#idle.resolve();
    return this.#idle.promise;
  }
}
