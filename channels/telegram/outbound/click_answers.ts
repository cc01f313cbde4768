/**
 * What somebody who clicked is told: a line over the chat that they alone see, for a moment (Bot API,
 * answerCallbackQuery). A button turns until there is one.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import type { TelegramApi } from "../api/telegram_api.ts";
import { shownText, toTelegramHtml } from "../text/to_telegram_html.ts";
import type { ClickOutcome, PlatformWords } from "../../../lib/channel/platform/mod.ts";
import type { Words } from "../words.ts";

/** What it works with. */
export interface ClickAnswersDeps {
  api: TelegramApi;
  words: PlatformWords;
  /** The channel's own. */
  sent: Words;
  clock: Pick<Clock, "after">;
  signal: AbortSignal;
}

/** How long a click waits for what the service says to it, milliseconds. */
export const ANSWER_MS = 5_000;

/** Characters of an answer (Bot API, answerCallbackQuery). */
const MAX_CHARS = 200;

/** A longer one stays until it is tapped away, so that there is time to read it. */
const GLANCE_CHARS = 40;

export class ClickAnswers {
  readonly #deps: ClickAnswersDeps;
  /** Clicks that wait, with what ends their time. */
  readonly #waiting = new Map<string, () => void>();

  constructor(deps: ClickAnswersDeps) {
    this.#deps = deps;
  }

  /** Says a word, without waiting for it; after a while Telegram takes no answer any more. */
  say(queryId: string, word?: ClickOutcome): void {
    const text = word === undefined ? "" : this.#deps.words(word);
    this.#answer(queryId, text, word === "notAllowed").catch(() => {});
  }

  /** What the service says to it is shown, where that comes soon. */
  expect(queryId: string): void {
    const cancel = this.#deps.clock.after(ANSWER_MS, () => {
      this.#waiting.delete(queryId);
      this.#answer(queryId, this.#deps.sent("sent"), false).catch(() => {});
    });
    this.#waiting.set(queryId, cancel);
  }

  /** Whether that was shown; where it was not, it is a message like any other. Never rejects. */
  async show(queryId: string, markdown: string): Promise<boolean> {
    const text = shownText(toTelegramHtml(markdown)).trim();
    const cancel = this.#waiting.get(queryId);
    if (cancel === undefined || text === "" || text.length > MAX_CHARS) return false;
    cancel();
    this.#waiting.delete(queryId);
    return await this.#answer(queryId, text, text.length > GLANCE_CHARS)
      .then(() => true, () => false);
  }

  close(): void {
    for (const cancel of this.#waiting.values()) cancel();
    this.#waiting.clear();
  }

  async #answer(queryId: string, text: string, isAlert: boolean): Promise<void> {
    const { api, signal } = this.#deps;
    await api.call("answerCallbackQuery", {
      callback_query_id: queryId,
      ...text !== "" && { text },
      ...isAlert && { show_alert: true },
    }, { signal });
  }
}
