/**
 * How a call of the Bot API fails, told apart by what is to be done about it; and what of it is said.
 * Addresses of the Bot API hold the token, so that no error of a request is ever passed on as it is.
 *
 * @module
 */

import {
  LoginRefusedError,
  NotConnectedError,
  PermanentDeliveryError,
  RetryLaterError,
  UncertainDeliveryError,
} from "../../../lib/channel/delivery_error.ts";

/**
 * - `login`: the token is wrong or was revoked (401; 404 for one that is none)
 * - `conflict`: somebody else reads the updates, or a webhook is set (409)
 * - `flood`: too many requests (429)
 * - `rejected`: a repeat would be refused as well
 * - `server`: Telegram's own trouble (5xx), which may have come behind what was asked for
 * - `unreachable`: nothing was sent, or it came to a proxy with no Bot API behind it (502, 503)
 * - `cut_off`: it was sent, and there is no answer
 */
export type TelegramFaultKind =
  | "login"
  | "conflict"
  | "flood"
  | "rejected"
  | "server"
  | "unreachable"
  | "cut_off";

/** What is known of a fault beside its words. */
export interface TelegramFaultDetails {
  /** In Telegram's words. */
  description?: string;
  /** With `flood`. */
  retryAfterMs?: number;
  /** The group is another chat now. */
  migrateToChatId?: number;
}

export class TelegramFault extends Error {
  override readonly name = "TelegramFault";
  readonly kind: TelegramFaultKind;
  readonly description: string;
  readonly retryAfterMs: number;
  readonly migrateToChatId: number | undefined;

  constructor(
    kind: TelegramFaultKind,
    message: string,
    { description = "", retryAfterMs = 0, migrateToChatId }: TelegramFaultDetails = {},
  ) {
    super(message);
    this.kind = kind;
    this.description = description;
    this.retryAfterMs = retryAfterMs;
    this.migrateToChatId = migrateToChatId;
  }
}

/** An answer with `ok: false`, as the Bot API gives it. */
export interface ApiRefusal {
  error_code: number;
  description: string;
  parameters?: { retry_after?: number; migrate_to_chat_id?: number };
}

/** Where Telegram does not say how long to wait, milliseconds. */
const FLOOD_MS = 5_000;

/** Of an answer of the Bot API. */
export function faultOfRefusal(
  method: string,
  { error_code: code, description, parameters = {} }: ApiRefusal,
): TelegramFault {
  const said = `Telegram refused ${method}: ${String(description).slice(0, 300)}`;
  const details = { description: String(description) };
  // A server that does not know a method says 404 too, with more words.
  const isUnknown = code === 401 || (code === 404 && description === "Not Found");
  switch (isUnknown ? 401 : code) {
    case 401:
      return new TelegramFault(
        "login",
        `${said}: the token is wrong or was revoked. Copy it again from @BotFather ` +
          "(/mybots, the bot, API Token), and set it",
        details,
      );
    case 409:
      return new TelegramFault("conflict", said, details);
    case 429: {
      const seconds = Number(parameters.retry_after);
      const retryAfterMs = seconds > 0 ? seconds * 1_000 : FLOOD_MS;
      return new TelegramFault("flood", said, { ...details, retryAfterMs });
    }
  }
  if (code === 502 || code === 503) return new TelegramFault("unreachable", said, details);
  if (code >= 500) return new TelegramFault("server", said, details);
  return new TelegramFault("rejected", said, {
    ...details,
    migrateToChatId: parameters.migrate_to_chat_id,
  });
}

/** Why Telegram refuses for good, by its words. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/bot was blocked by the user/i, "The person has blocked the bot, and can unblock it"],
  [/user is deactivated/i, "The person's account is gone"],
  [/bot can't initiate conversation/i, "The person has to write to the bot first"],
  [/bot was kicked|not a member/i, "The bot is no member of the group any more"],
  [/chat not found/i, "There is no such chat, or the bot was never in it"],
  [/message thread not found|topic_deleted/i, "The topic is gone"],
  [/topic_closed/i, "The topic is closed"],
  [/not enough rights|have no rights|chat_write_forbidden/i, "The bot may not write there"],
];

/** What a delivery rejects with. `isRepeatable`: a second copy of the call does no harm. */
export function toDeliveryError(error: unknown, isRepeatable = false): unknown {
  if (!(error instanceof TelegramFault)) return error;
  const { kind, message, retryAfterMs } = error;
  switch (kind) {
    case "login":
      return new LoginRefusedError(message);
    case "flood":
      return new RetryLaterError(message, retryAfterMs);
    case "rejected": {
      const reason = REASONS.find(([words]) => isRejection(error, words))?.[1];
      return new PermanentDeliveryError(reason === undefined ? message : `${reason} (${message})`);
    }
    case "server":
    case "cut_off":
      return isRepeatable ? new Error(message) : new UncertainDeliveryError(message);
    case "unreachable":
      return new NotConnectedError(message);
    case "conflict":
      return new Error(message);
  }
}

/** Whether Telegram refused with words such as these, which are all that tells its refusals apart. */
export function isRejection(error: unknown, words: RegExp): boolean {
  return error instanceof TelegramFault && error.kind === "rejected" &&
    words.test(error.description);
}
