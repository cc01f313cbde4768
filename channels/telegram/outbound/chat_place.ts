/**
 * A chat as the service names it: `<chat>`, or `<chat>/<thread>` for a topic of a forum.
 *
 * @module
 */

import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";

/** Where a message goes, as the Bot API takes it. */
export interface ChatPlace {
  chat_id: number;
  message_thread_id?: number;
}

/** Throws a PermanentDeliveryError for what is no chat of Telegram. */
export function parseChat(chatId: string): ChatPlace {
  const match = /^(-?\d{1,16})(?:\/(\d{1,10}))?$/.exec(chatId);
  if (match === null) {
    throw new PermanentDeliveryError(
      `Cannot send to ${JSON.stringify(chatId.slice(0, 80))}: expected the number of a chat, or ` +
        "<chat>/<topic>",
    );
  }
  const [, chat, thread] = match;
  return {
    chat_id: Number(chat),
    ...thread !== undefined && { message_thread_id: Number(thread) },
  };
}

/** The other way round. */
export function chatIdOf({ chat_id, message_thread_id }: ChatPlace): string {
  return message_thread_id === undefined ? String(chat_id) : `${chat_id}/${message_thread_id}`;
}

/** Groups have numbers below zero. */
export function isGroup(chatId: string): boolean {
  return chatId.startsWith("-");
}

/** How often a chat may be written to: one message a second, 20 a minute in groups (Bot FAQ). */
export function everyMsIn(chatId: string): number {
  return isGroup(chatId) ? 3_000 : 1_000;
}
