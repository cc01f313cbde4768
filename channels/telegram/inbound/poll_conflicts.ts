/**
 * Somebody else takes the bot's updates: another program that polls, or a webhook. It is named, and the
 * channel waits; two programs that push each other aside for ever help nobody.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import type { Log } from "../../../lib/base/log.ts";
import type { TelegramApi } from "../api/telegram_api.ts";
import { failedCall, pauseOf, reasonOf } from "../../../lib/channel/platform/mod.ts";

/** What it works with. */
export interface PollConflictDeps {
  api: TelegramApi;
  say: (problem: string) => void;
  clock: Pick<Clock, "elapsed">;
  log: Pick<Log, "warning">;
}

/** First wait, and the longest, milliseconds. */
const FIRST_MS = 3_000;
const LONGEST_MS = 60_000;

/** After so long without one, the next is another matter. */
const OVER_MS = 5 * 60_000;

const OTHER_PROGRAM =
  "another program reads this bot's updates: stop it, or give this one another bot";

export class PollConflicts {
  readonly #deps: PollConflictDeps;
  #count = 0;
  #lastMs = -Infinity;
  #hasRemovedWebhook = false;

  constructor(deps: PollConflictDeps) {
    this.#deps = deps;
  }

  /** A request was refused with 409, in such words. Resolves with how long to wait, milliseconds. */
  async met(said: string, signal: AbortSignal): Promise<number> {
    const { clock, say, log } = this.#deps;
    const now = clock.elapsed();
    this.#count = now - this.#lastMs > OVER_MS ? 1 : this.#count + 1;
    this.#lastMs = now;
    const webhookMs = /webhook/i.test(said) ? await this.#webhook(signal) : undefined;
    if (webhookMs !== undefined) return webhookMs;
    const waitMs = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(this.#count - 1, 10));
    say(`${OTHER_PROGRAM}; again in ${Math.ceil(waitMs / 1_000)} s`);
    // Once may be the process before this one, which is about to end.
    if (this.#count === 2) log.warning("Another program reads this bot's updates");
    return waitMs;
  }

  /**
   * The section says that this one polls: a webhook is removed once, and not fought over. Undefined where
   * there is none any more.
   */
  async #webhook(signal: AbortSignal): Promise<number | undefined> {
    const { api, say, log } = this.#deps;
    try {
      const { url } = await api.call("getWebhookInfo", {}, { signal });
      if (!url) return undefined;
      const host = URL.parse(url)?.host ?? "an unknown address";
      if (this.#hasRemovedWebhook) {
        say(`another program has set a webhook to ${host}: stop it, or set mode to webhook`);
        return LONGEST_MS;
      }
      await api.call("deleteWebhook", { drop_pending_updates: false }, { signal });
      this.#hasRemovedWebhook = true;
      log.warning("A webhook of the bot was removed, since this channel polls", { host });
      say(`the webhook to ${host} was removed, since mode is polling`);
      return 0;
    } catch (error) {
      if (failedCall(error) === undefined) throw error;
      say(`a webhook is set, and cannot be removed now: ${reasonOf(error)}`);
      return Math.max(FIRST_MS, pauseOf(error));
    }
  }
}
