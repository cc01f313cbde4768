/**
 * A message of text: in Telegram's HTML, and without any markup where Telegram refuses that.
 *
 * @module
 */

import type { InlineKeyboardMarkup } from "grammy/types";
import { UncertainDeliveryError } from "../../../lib/channel/delivery_error.ts";
import { isRejection, toDeliveryError } from "../api/telegram_fault.ts";
import type { TelegramPart } from "../text/split_for_telegram.ts";
import { shownText } from "../text/to_telegram_html.ts";
import type { ChatPlace } from "./chat_place.ts";
import type { Chats } from "./chats.ts";

/** A message of ours, for its edits. */
export interface SentMessage {
  chat_id: number;
  message_id: number;
}

/** What a message has beside its text. */
export interface SendOptions {
  /** The message that it answers. */
  replyTo?: number;
  isSilent?: boolean;
  keyboard?: InlineKeyboardMarkup;
  signal?: AbortSignal;
}

/** What an edit may bring beside the text; without a keyboard, one that was there goes. */
export type EditOptions = Pick<SendOptions, "keyboard" | "signal">;

const REFUSED_MARKUP = /can't parse (?:message text|entities|caption)|unsupported start tag/i;
const NO_PREVIEW = { is_disabled: true } as const;

/** Rejects as `send` of a channel does. */
export async function sendText(
  chats: Chats,
  place: ChatPlace,
  { html }: Pick<TelegramPart, "html">,
  { replyTo, isSilent = false, keyboard, signal }: SendOptions = {},
): Promise<SentMessage> {
  const common = {
    ...place,
    ...replyParameters(replyTo),
    ...isSilent && { disable_notification: true },
    ...keyboard !== undefined && { reply_markup: keyboard },
    link_preview_options: NO_PREVIEW,
  };
  const sent = await withoutMarkup(
    html,
    (text) => chats.deliver("sendMessage", { ...common, ...text }, { signal }),
  );
  const { chat, message_id } = (sent ?? {}) as Partial<typeof sent>;
  // It was taken: once more would be a second one.
  if (!Number.isSafeInteger(chat?.id) || !Number.isSafeInteger(message_id)) {
    throw new UncertainDeliveryError("Telegram does not say which message it has sent");
  }
  return { chat_id: chat!.id, message_id: message_id! };
}

/** Gives a message another text. Rejects as `send` of a channel does; a message that is gone is left so. */
export async function editText(
  chats: Chats,
  message: SentMessage,
  { html }: Pick<TelegramPart, "html">,
  { keyboard, signal }: EditOptions = {},
): Promise<void> {
  const common = {
    ...message,
    ...keyboard !== undefined && { reply_markup: keyboard },
    link_preview_options: NO_PREVIEW,
  };
  try {
    await withoutMarkup(
      html,
      (text) => chats.call("editMessageText", { ...common, ...text }, { signal }),
    );
  } catch (error) {
    if (
      isRejection(error, /message is not modified|message to edit not found|message_id_invalid/i)
    ) {
      return;
    }
    throw toDeliveryError(error, { isRepeatable: true });
  }
}

/** A message that is answered may be gone by now: the answer is sent all the same. */
export function replyParameters(replyTo: number | undefined) {
  return replyTo === undefined
    ? {}
    : { reply_parameters: { message_id: replyTo, allow_sending_without_reply: true } };
}

/** Calls with Telegram's HTML; where that is refused once more, and never again, with what it shows. */
export async function withoutMarkup<Result>(
  html: string,
  call: (text: { text: string; parse_mode?: "HTML" }) => Promise<Result>,
): Promise<Result> {
  try {
    return await call({ text: html, parse_mode: "HTML" });
  } catch (error) {
    if (!(error instanceof Error) || !REFUSED_MARKUP.test(error.message)) throw error;
    return await call({ text: shownText(html) });
  }
}
