/**
 * Tells messages of the bot that this installation has sent from those of another program.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { snowflakeTime } from "../rest/discord_api.ts";

/** The gateway may tell of a message before the answer to whoever sent it is there, milliseconds. */
const SENT_MS = 5_000;
/** Messages of which it is not known yet who sent them. */
const MAX_SUSPECTS = 100;

const FOREIGN = "another program writes with the same token: end it, or give it a bot of its own";

/** What it works with. */
export interface OwnMessagesDeps {
  clock: Pick<Clock, "now" | "after">;
  /** Whether this process has sent a message. */
  wasSent: (messageId: string) => boolean;
  warn: (problem: string) => void;
}

export class OwnMessages {
  readonly #deps: OwnMessagesDeps;
  readonly #beganMs: number;
  readonly #suspects = new Map<string, () => void>();

  constructor(deps: OwnMessagesDeps) {
    this.#deps = deps;
    this.#beganMs = deps.clock.now();
  }

  /** A message of the bot has come whose nonce is none of this installation's. */
  suspect(messageId: string): void {
    const { clock, wasSent, warn } = this.#deps;
    // What a former process sent is known by its nonce alone.
    if (snowflakeTime(messageId) < this.#beganMs || wasSent(messageId)) return;
    if (this.#suspects.has(messageId) || this.#suspects.size >= MAX_SUSPECTS) return;
    const cancel = clock.after(SENT_MS, () => {
      this.#suspects.delete(messageId);
      if (!wasSent(messageId)) warn(FOREIGN);
    });
    this.#suspects.set(messageId, cancel);
  }

  close(): void {
    for (const cancel of this.#suspects.values()) cancel();
    this.#suspects.clear();
  }
}
