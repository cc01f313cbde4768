/**
 * How a bot is, for people who look: who it is, what is in the way, and whether it is alone.
 *
 * @module
 */

import type { ChannelHost } from "../../../lib/channel/channel_host.ts";
import type { BotIdentity } from "../gateway/bookmark.ts";

/** What else writes as the bot is told so long, milliseconds. */
const FOREIGN_MS = 10 * 60_000;

/** See the module. */
export class BotStatus {
  readonly #host: Pick<ChannelHost, "setDetail" | "log" | "clock">;
  #identity: BotIdentity | undefined;
  #foreignAtMs = -Infinity;

  constructor(host: Pick<ChannelHost, "setDetail" | "log" | "clock">) {
    this.#host = host;
  }

  /** What is in the way of a connection. */
  say(state: string): void {
    this.#host.setDetail(state);
  }

  connected(identity: BotIdentity): void {
    this.#identity = identity;
    this.#describe();
  }

  /** A message of the bot has come that this program did not send. */
  foreign(): void {
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
