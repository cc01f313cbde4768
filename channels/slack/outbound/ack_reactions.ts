/**
 * The emoji on a message that is being answered.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { PermanentDeliveryError, RetryLaterError } from "../../../lib/channel/delivery_error.ts";
import type { Memory } from "../../../lib/channel/platform/memory.ts";
import type { Log } from "../../../lib/base/log.ts";
import type { SlackApi } from "../api/slack_api.ts";

/** What it works with. */
export interface AckReactionsDeps {
  api: Pick<SlackApi, "call">;
  /** Of the emoji, without colons; empty: none is set. */
  name: string;
  /** Knows the emoji of a process that was killed. */
  memory: Pick<Memory, "get" | "set">;
  clock: Pick<Clock, "after">;
  log: Pick<Log, "info">;
  signal: AbortSignal;
}

/** Messages that are known to have one; of more, the first keep it. */
const MAX_SET = 300;

/** How often one process tries to take one away, and how long it waits where Slack does not say. */
const MAX_ATTEMPTS = 8;
const AGAIN_MS = 5_000;

const KIND = "reactions";
const NAME = "set";

interface Reacted {
  channel: string;
  timestamp: string;
  name: string;
}

/** Nothing rejects: a turn ends once, and nobody asks a second time. */
export class AckReactions {
  readonly #deps: AckReactionsDeps;
  /** Calls that set one, so that none comes behind its removal. */
  readonly #adding = new Map<string, Promise<void>>();
  readonly #waits = new Set<() => void>();
  #set: Reacted[];

  constructor(deps: AckReactionsDeps) {
    this.#deps = deps;
    this.#set = deps.memory.get<Reacted[]>(KIND, NAME) ?? [];
  }

  /** Takes away what a process before this one has left. */
  restore(): void {
    for (const one of this.#set) void this.#takeAway(one, 1);
  }

  /** Sets it. Nobody waits for it, and it is not worth a second try. */
  add(channel: string, timestamp: string): void {
    const { name } = this.#deps;
    if (name === "") return;
    const one = { channel, timestamp, name };
    this.#store([...this.#set, one].slice(-MAX_SET));
    const key = keyOf(one);
    const adding = this.#call("reactions.add", one).catch((error) => this.#note(error))
      .finally(() => this.#adding.delete(key));
    this.#adding.set(key, adding);
  }

  /** Takes it away. Resolves behind the first attempt. */
  async remove(channel: string, timestamp: string): Promise<void> {
    const { name } = this.#deps;
    if (name === "") return;
    const one = { channel, timestamp, name };
    await this.#adding.get(keyOf(one));
    await this.#takeAway(one, 1);
  }

  /** Asks no more; what is left goes behind the next start. */
  close(): void {
    for (const cancel of this.#waits) cancel();
  }

  async #takeAway(one: Reacted, attempt: number): Promise<void> {
    const { clock, signal } = this.#deps;
    try {
      await this.#call("reactions.remove", one);
    } catch (error) {
      if (signal.aborted) return;
      // There is none, or it is not ours to take.
      if (!(error instanceof PermanentDeliveryError)) {
        if (attempt >= MAX_ATTEMPTS) return this.#note(error);
        const waitMs = error instanceof RetryLaterError ? error.retryAfterMs : AGAIN_MS * attempt;
        const cancel = clock.after(waitMs, () => {
          this.#waits.delete(cancel);
          void this.#takeAway(one, attempt + 1);
        });
        return void this.#waits.add(cancel);
      }
      if (!DONE_CODES.has((error as { code?: unknown }).code)) this.#note(error);
    }
    if (!signal.aborted) this.#store(this.#set.filter((other) => keyOf(other) !== keyOf(one)));
  }

  async #call(method: "reactions.add" | "reactions.remove", one: Reacted): Promise<void> {
    await this.#deps.api.call(method, { ...one });
  }

  #note(error: unknown): void {
    if (this.#deps.signal.aborted || DONE_CODES.has((error as { code?: unknown }).code)) return;
    this.#deps.log.info("A reaction was not changed", { reason: (error as Error).message });
  }

  #store(set: Reacted[]): void {
    this.#set = set;
    this.#deps.memory.set(KIND, NAME, set);
  }
}

/** It is as it should be already. */
const DONE_CODES: ReadonlySet<unknown> = new Set(["already_reacted", "no_reaction"]);

function keyOf({ channel, timestamp, name }: Reacted): string {
  return `${channel} ${timestamp} ${name}`;
}
