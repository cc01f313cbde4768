/**
 * What an update is to the channel; most of what Telegram tells is nothing to it.
 *
 * @module
 */

import type { CallbackQuery, Message, Update } from "grammy/types";
import { inPieces } from "../../../lib/channel/platform/mod.ts";
import { chatIdOf } from "../outbound/chat_place.ts";
import { filesOf } from "./files_of.ts";
import type { UpdateMeaning } from "./heard.ts";
import { type BotIdentity, isAddressed } from "./is_addressed.ts";
import { messageWords, nameOfUser } from "./message_words.ts";

/** What is asked for; everything else does not come at all. */
export const ALLOWED_UPDATES = ["message", "edited_message", "callback_query"] as const;

/** What reading goes by. */
export interface ReadOptions {
  bot: BotIdentity;
  respond: "mention" | "all";
}

/** Of a button; Telegram has 64 bytes. */
const MAX_DATA_CHARS = 256;

/** Undefined for what is not for the bot, or of nobody. Throws for what is no update. */
export function readUpdate(update: Update, options: ReadOptions): UpdateMeaning | undefined {
  if (update.callback_query !== undefined) return readClick(update.callback_query);
  // Of an album, which is one message here, no part changes alone.
  const { message = update.edited_message?.media_group_id ? undefined : update.edited_message } =
    update;
  return message === undefined ? undefined : readMessage(message, options);
}

function readMessage(message: Message, options: ReadOptions): UpdateMeaning | undefined {
  const { chat, from, date, message_id: messageId } = message;
  if (message.migrate_to_chat_id !== undefined) {
    return { kind: "moved", from: chat.id, to: message.migrate_to_chat_id };
  }
  if (chat.type === "channel" || from === undefined || from.is_bot) return undefined;
  // Anonymous admins, and channels that write in a group: nobody can say who that was.
  if (message.sender_chat !== undefined || message.sender_business_bot !== undefined) {
    return undefined;
  }
  if (!isAddressed(message, options.bot, options.respond)) return undefined;
  const provenance = message.forward_origin !== undefined ? "forwarded" : undefined;
  const own = filesOf(message, provenance);
  const { reply_to_message: replied } = message;
  // "What is this?", in reply to a picture.
  const files = own.length === 0 && replied !== undefined && replied.from?.id !== options.bot.id
    ? filesOf(replied, "quoted")
    : own;
  const { content: text, parts } = inPieces(messageWords(message, options.bot));
  // Somebody came, left or changed something.
  if (text === "" && files.length === 0) return undefined;
  const senderId = String(from.id);
  const senderName = nameOfUser(from);
  return {
    kind: "message",
    message: {
      chatId: chatIdIn(message),
      messageId,
      senderId,
      senderName,
      sentAt: date * 1_000,
      ...message.edit_date !== undefined && { editedAt: message.edit_date },
      text,
      ...parts !== undefined && { parts },
      files,
      ...message.media_group_id !== undefined && own.length > 0 &&
        { albumId: message.media_group_id },
    },
  };
}

function readClick({ id, from, message, data }: CallbackQuery): UpdateMeaning | undefined {
  if (message === undefined || from.is_bot) return undefined;
  if (typeof data !== "string" || data.length > MAX_DATA_CHARS) return undefined;
  const senderId = String(from.id);
  const senderName = nameOfUser(from);
  return {
    kind: "click",
    click: { chatId: chatIdIn(message), queryId: id, senderId, senderName, data },
  };
}

/** Replies in a group without topics have a thread as well, which is no place of its own. */
function chatIdIn(
  { chat, ...message }: Pick<Message, "chat"> & Partial<Message>,
): string {
  const { is_topic_message: isTopic, message_thread_id } = message;
  return chatIdOf({ chat_id: chat.id, ...isTopic === true && { message_thread_id } });
}
