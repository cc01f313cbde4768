/**
 * How members are called.
 *
 * @module
 */

import { type SlackApi, textOf } from "../api/slack_api.ts";

/** Members whose names are kept. */
const MAX_NAMES = 1_000;

/** See the module. */
export class UserNames {
  readonly #api: Pick<SlackApi, "call">;
  readonly #names = new Map<string, string>();

  constructor(api: Pick<SlackApi, "call">) {
    this.#api = api;
  }

  /** The name; undefined where Slack does not say it. Never rejects. */
  async of(userId: string): Promise<string | undefined> {
    let name = this.#names.get(userId);
    if (name === undefined) {
      try {
        const { user } = await this.#api.call("users.info", { user: userId });
        name = textOf(user, "profile", "display_name") || textOf(user, "real_name") ||
          textOf(user, "name");
      } catch {
        // It is shown, and no more; the id is there.
        return undefined;
      }
      this.#names.set(userId, name.slice(0, 100).toWellFormed());
      if (this.#names.size > MAX_NAMES) this.#names.delete(this.#names.keys().next().value!);
    }
    return this.#names.get(userId) || undefined;
  }
}
