/**
 * How members are called.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { SlackRefusal } from "../api/slack_fault.ts";
import { type SlackApi, textOf } from "../api/slack_api.ts";

/** Members whose names are kept. */
const MAX_NAMES = 1_000;

/** How long no name is asked for behind a call that failed, milliseconds. */
const AGAIN_MS = 60_000;

export class UserNames {
  readonly #api: Pick<SlackApi, "call">;
  readonly #clock: Pick<Clock, "elapsed">;
  readonly #names = new Map<string, string>();
  /** Nobody is asked for before that, by `clock.elapsed`: no message waits for a name twice. */
  #againAtMs = -Infinity;

  constructor(api: Pick<SlackApi, "call">, clock: Pick<Clock, "elapsed">) {
    this.#api = api;
    this.#clock = clock;
  }

  /** The name; undefined where Slack does not say it. Never rejects. */
  async of(userId: string): Promise<string | undefined> {
    let name = this.#names.get(userId);
    if (name === undefined) {
      if (this.#clock.elapsed() < this.#againAtMs) return undefined;
      try {
        const { user } = await this.#api.call("users.info", { user: userId });
        name = textOf(user, "profile", "display_name") || textOf(user, "real_name") ||
          textOf(user, "name");
      } catch (error) {
        // It is shown, and no more; the id is there.
        if (!(error instanceof SlackRefusal) || error.code === "missing_scope") {
          this.#againAtMs = this.#clock.elapsed() + AGAIN_MS;
          return undefined;
        }
        // Of this one alone nothing is said.
        name = "";
      }
      this.#names.set(userId, name.slice(0, 100).toWellFormed());
      if (this.#names.size > MAX_NAMES) this.#names.delete(this.#names.keys().next().value!);
    }
    return this.#names.get(userId) || undefined;
  }
}
