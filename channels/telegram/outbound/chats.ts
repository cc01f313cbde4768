/**
 * Calls that write into a chat: into the chat that a group has become, and with words that say what to do
 * where Telegram refuses.
 *
 * @module
 */

import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import type { Memory } from "../../../lib/channel/platform/memory.ts";
import type {
  CallOptions,
  TelegramApi,
  TelegramMethod,
  TelegramParameters,
  TelegramResult,
} from "../api/telegram_api.ts";
import { isRejection, TelegramFault, toDeliveryError } from "../api/telegram_fault.ts";

const MOVED = "moved";

/** Why Telegram refuses for good, by its words. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/bot was blocked by the user/i, "the person has blocked the bot, and can unblock it"],
  [/user is deactivated/i, "the person's account is gone"],
  [/bot can't initiate conversation/i, "the person has to write to the bot first"],
  [/bot was kicked|not a member/i, "the bot is no member of the group any more"],
  [/chat not found/i, "there is no such chat, or the bot was never in it"],
  [/message thread not found|topic_deleted/i, "the topic is gone"],
  [/topic_closed/i, "the topic is closed"],
  [/not enough rights|have no rights|chat_write_forbidden/i, "the bot may not write there"],
];

export class Chats {
  readonly #api: TelegramApi;
  readonly #memory: Memory;

  constructor({ api, memory }: { api: TelegramApi; memory: Memory }) {
    this.#api = api;
    this.#memory = memory;
  }

  /** A group has become a supergroup, with another number. */
  moved(from: number, to: number): void {
    if (from !== to) this.#memory.set(MOVED, String(from), to);
  }

  /** Calls a method that has a `chat_id`. Rejects with a `TelegramFault`. */
  async call<M extends TelegramMethod>(
    method: M,
    parameters: TelegramParameters<M> & { chat_id: number },
    options: CallOptions = {},
  ): Promise<TelegramResult<M>> {
    const { chat_id } = parameters;
    const to = this.#memory.get<number>(MOVED, String(chat_id)) ?? chat_id;
    try {
      return await this.#api.call(method, { ...parameters, chat_id: to }, options);
    } catch (error) {
      if (!(error instanceof TelegramFault) || error.migrateToChatId === undefined) throw error;
      this.moved(chat_id, error.migrateToChatId);
      const moved = { ...parameters, chat_id: error.migrateToChatId };
      return await this.#api.call(method, moved, options);
    }
  }

  /** The same, and rejects as `send` of a channel does. */
  async deliver<M extends TelegramMethod>(
    method: M,
    parameters: TelegramParameters<M> & { chat_id: number },
    options: CallOptions & { isRepeatable?: boolean } = {},
  ): Promise<TelegramResult<M>> {
    try {
      return await this.call(method, parameters, options);
    } catch (error) {
      const reason = REASONS.find(([words]) => isRejection(error, words))?.[1];
      if (reason === undefined) throw toDeliveryError(error, options);
      throw new PermanentDeliveryError(
        `${reason[0]!.toUpperCase()}${reason.slice(1)} (${(error as Error).message})`,
      );
    }
  }
}
