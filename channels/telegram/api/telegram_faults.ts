/**
 * What the answers of the Bot API mean, which are told apart by their words where their codes are the same.
 *
 * @module
 */

import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import { failedCall, type FailureTable } from "../../../lib/channel/platform/mod.ts";

export const TELEGRAM_FAULTS: FailureTable = {
  peer: "Telegram",
  // Somebody else reads the updates, or a webhook is set.
  kinds: { 409: "failed" },
  reasons: [
    [/bot was blocked by the user/i, "the person has blocked the bot, and can unblock it"],
    [/user is deactivated/i, "the person's account is gone"],
    [/bot can't initiate conversation/i, "the person has to write to the bot first"],
    [/bot was kicked|not a member/i, "the bot is no member of the group any more"],
    [/chat not found/i, "there is no such chat, or the bot was never in it"],
    [/message thread not found|topic_deleted/i, "the topic is gone"],
    [/topic_closed/i, "the topic is closed"],
    [/not enough rights|have no rights|chat_write_forbidden/i, "the bot may not write there"],
  ],
  advice: {
    401: "the token is wrong or was revoked. Copy it again from @BotFather (/mybots, the bot, " +
      "API Token), and set it",
    413: "it is too large",
  },
};

/** Whether Telegram refused with words such as these, which are all that tells its refusals apart. */
export function isRejection(error: unknown, words: RegExp): boolean {
  return error instanceof PermanentDeliveryError && words.test(failedCall(error)?.said ?? "");
}
