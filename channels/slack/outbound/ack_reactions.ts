/**
 * The emoji on a message that is being answered.
 *
 * @module
 */

import { RetryLaterError } from "../../../lib/channel/delivery_error.ts";
import type { Log } from "../../../lib/log.ts";
import type { SlackApi } from "../api/slack_api.ts";

/** What it works with. */
export interface AckReactionsDeps {
  api: Pick<SlackApi, "call">;
  /** Of the emoji, without colons; empty: none is set. */
  name: string;
  log: Pick<Log, "info">;
  signal: AbortSignal;
}

/** It is as it should be already. */
const DONE_CODES: ReadonlySet<unknown> = new Set(["already_reacted", "no_reaction"]);

/** See the module. */
export class AckReactions {
  readonly #deps: AckReactionsDeps;
  /** Calls that set one, so that none comes behind its removal. */
  readonly #adding = new Map<string, Promise<void>>();

  constructor(deps: AckReactionsDeps) {
    this.#deps = deps;
  }

  /** Sets it. Nobody waits for it, and it is not worth a second try. */
  add(channel: string, timestamp: string): void {
    const key = `${channel} ${timestamp}`;
    const adding = this.#call("reactions.add", channel, timestamp).catch(() => {})
      .finally(() => this.#adding.delete(key));
    this.#adding.set(key, adding);
  }

  /** Takes it away. Rejects where Slack wants it later, and with nothing else. */
  async remove(channel: string, timestamp: string): Promise<void> {
    await this.#adding.get(`${channel} ${timestamp}`);
    await this.#call("reactions.remove", channel, timestamp);
  }

  async #call(
    method: "reactions.add" | "reactions.remove",
    channel: string,
    timestamp: string,
  ): Promise<void> {
    const { api, name, log, signal } = this.#deps;
    if (name === "") return;
    try {
      await api.call(method, { channel, timestamp, name });
    } catch (error) {
      if (error instanceof RetryLaterError) throw error;
      if (signal.aborted || DONE_CODES.has((error as { code?: unknown }).code)) return;
      log.info("A reaction was not changed", { method, reason: (error as Error).message });
    }
  }
}
