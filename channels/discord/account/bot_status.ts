/**
 * How a bot is, for people who look: who it is, what is in the way, and whether it is alone.
 *
 * @module
 */

import type { ChannelHost } from "../../../lib/channel/channel_host.ts";
import type { BotIdentity } from "../gateway/bookmark.ts";
import { snowflakeTime } from "../rest/discord_api.ts";

/** What else writes as the bot is told so long, milliseconds. */
const FOREIGN_MS = 10 * 60_000;

/** The gateway may tell of a message before the answer to whoever sent it is there, milliseconds. */
const SENT_MS = 5_000;
/** Messages of which it is not known yet who sent them. */
const MAX_SUSPECTS = 100;

/** What it works with. */
export interface BotStatusDeps {
  host: Pick<ChannelHost, "setDetail" | "log" | "clock">;
  /** Whether this process has sent a message. */
  wasSent: (messageId: string) => boolean;
}

export class BotStatus {
  readonly #host: BotStatusDeps["host"];
  readonly #wasSent: BotStatusDeps["wasSent"];
  readonly #beganMs: number;
  readonly #suspects = new Map<string, () => void>();
  #identity: BotIdentity | undefined;
  #foreignAtMs = -Infinity;

  constructor({ host, wasSent }: BotStatusDeps) {
    this.#host = host;
    this.#wasSent = wasSent;
    this.#beganMs = host.clock.now();
  }

  /** What is in the way of a connection. */
  say(state: string): void {
    this.#host.setDetail(state);
  }

  connected(identity: BotIdentity): void {
    this.#identity = identity;
    this.#describe();
  }

  /** A message of the bot has come whose nonce is none of this installation's. */
  suspect(messageId: string): void {
    // What a former process sent is known by its nonce alone.
    if (snowflakeTime(messageId) < this.#beganMs || this.#wasSent(messageId)) return;
    if (this.#suspects.has(messageId) || this.#suspects.size >= MAX_SUSPECTS) return;
    const cancel = this.#host.clock.after(SENT_MS, () => {
      this.#suspects.delete(messageId);
      if (!this.#wasSent(messageId)) this.#foreign();
    });
    this.#suspects.set(messageId, cancel);
  }

  close(): void {
    for (const cancel of this.#suspects.values()) cancel();
    this.#suspects.clear();
  }

  #foreign(): void {
    const { clock, log } = this.#host;
    if (!this.#isShared()) {
      log.warning(
        "Something else writes with the token of this bot: end it, or give it a bot of its own",
      );
    }
    this.#foreignAtMs = clock.elapsed();
    this.#describe();
  }

  #isShared(): boolean {
    return this.#host.clock.elapsed() - this.#foreignAtMs < FOREIGN_MS;
  }

  #describe(): void {
    if (this.#identity === undefined) return;
    const { name, userId } = this.#identity;
    this.#host.setDetail(
      this.#isShared()
        ? `connected as ${name} (${userId}), and another program writes with the same token: ` +
          "end it, or give it a bot of its own"
        : `connected as ${name} (${userId})`,
    );
  }
}
