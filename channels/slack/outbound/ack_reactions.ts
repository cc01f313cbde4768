/**
 * The emoji on a message that is being answered.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import type { Log } from "../../../lib/base/log.ts";
import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import { type Memory, pauseOf, sleep } from "../../../lib/channel/platform/mod.ts";
import type { SlackApi } from "../api/slack_api.ts";
import { refusedAs } from "../api/slack_faults.ts";

/** What it works with. */
export interface AckReactionsDeps {
  api: Pick<SlackApi, "call">;
  /** Of the emoji, without colons; empty: none is set. */
  name: string;
  /** Knows the emoji of a process that was killed. */
  memory: Pick<Memory, "entries" | "set" | "delete">;
  clock: Pick<Clock, "after">;
  log: Pick<Log, "info">;
  signal: AbortSignal;
}

/** Messages of a process before this one whose emoji are taken away. */
const MAX_LEFT = 300;

/** How often one process tries to take one away, and how long it waits where Slack does not say. */
const MAX_ATTEMPTS = 8;
const AGAIN_MS = 5_000;

const KIND = "ack";

/** Nothing rejects: a turn ends once, and nobody asks a second time. */
export class AckReactions {
  readonly #deps: AckReactionsDeps;
  /** Calls that set one, so that none comes behind its removal. */
  readonly #adding = new Map<string, Promise<void>>();

  constructor(deps: AckReactionsDeps) {
    this.#deps = deps;
  }

  /** Takes away what a process before this one has left. */
  restore(): void {
    const left = this.#deps.memory.entries<string>(KIND).slice(-MAX_LEFT);
    for (const [message, name] of left) void this.#takeAway(message, name);
  }

  /** Sets it. Nobody waits for it, and it is not worth a second try. */
  add(channel: string, timestamp: string): void {
    const { name, memory } = this.#deps;
    if (name === "") return;
    const message = `${channel} ${timestamp}`;
    memory.set(KIND, message, name);
    const adding = this.#call("reactions.add", message, name).catch((error) => this.#note(error))
      .finally(() => this.#adding.delete(message));
    this.#adding.set(message, adding);
  }

  /** Takes it away. Resolves behind the first attempt. */
  async remove(channel: string, timestamp: string): Promise<void> {
    const message = `${channel} ${timestamp}`;
    await this.#adding.get(message);
    if (this.#deps.name !== "") await this.#takeAway(message, this.#deps.name);
  }

  async #takeAway(message: string, name: string, attempt = 1): Promise<void> {
    const { memory, clock, signal } = this.#deps;
    try {
      await this.#call("reactions.remove", message, name);
    } catch (error) {
      const isLast = attempt === MAX_ATTEMPTS;
      if (isLast || error instanceof PermanentDeliveryError) this.#note(error);
      if (!(error instanceof PermanentDeliveryError)) {
        // What is left goes behind the next start.
        if (isLast || signal.aborted) return;
        return void sleep(pauseOf(error) || AGAIN_MS * attempt, clock, signal)
          .then(() => this.#takeAway(message, name, attempt + 1));
      }
    }
    if (!signal.aborted) memory.delete(KIND, message);
  }

  async #call(method: "reactions.add" | "reactions.remove", message: string, name: string) {
    const [channel, timestamp] = message.split(" ");
    await this.#deps.api.call(method, { channel, timestamp, name });
  }

  #note(error: unknown): void {
    // It is as it should be already.
    const isDone = ["already_reacted", "no_reaction"].includes(refusedAs(error));
    if (this.#deps.signal.aborted || isDone) return;
    this.#deps.log.info("A reaction was not changed", { reason: (error as Error).message });
  }
}
