/**
 * Whether a message of a group is meant for the bot.
 *
 * @module
 */

import type { Message, MessageEntity } from "grammy/types";
import { COMMAND_WORDS } from "../words.ts";

/** Who the bot is. */
export interface BotIdentity {
  id: number;
  /** Without `@`. */
  username: string;
}

/** A command at the beginning of a message: its name, and the bot that it is for. */
export function commandOf(text: string): { name: string; bot?: string } | undefined {
  const match = /^\/([a-z0-9_]{1,32})(?:@(\w{1,64}))?(?=\s|$)/i.exec(text);
  if (match === null) return undefined;
  const [, name, bot] = match;
  return { name: name!.toLowerCase(), ...bot !== undefined && { bot: bot.toLowerCase() } };
}

/** A message in private always is. */
export function isAddressed(
  message: Message,
  { id, username }: BotIdentity,
  respond: "mention" | "all",
): boolean {
  if (message.chat.type === "private") return true;
  const text = message.text ?? message.caption ?? "";
  const own = username.toLowerCase();
  const command = commandOf(text);
  // Another bot's, whatever else stands in it.
  if (command?.bot !== undefined && command.bot !== own) return false;
  if (respond === "all" || command?.bot === own) return true;
  if (command !== undefined && Object.hasOwn(COMMAND_WORDS, command.name)) return true;
  const entities = message.entities ?? message.caption_entities ?? [];
  if (entities.some((entity) => isMention(entity, text, { id, username: own }))) return true;
  const { reply_to_message: replied } = message;
  // Whatever is written in a topic answers the message that opened it.
  return replied?.from?.id === id && replied.forum_topic_created === undefined;
}

function isMention(entity: MessageEntity, text: string, { id, username }: BotIdentity): boolean {
  if (entity.type === "text_mention") return entity.user.id === id;
  return entity.type === "mention" &&
    text.slice(entity.offset, entity.offset + entity.length).toLowerCase() === `@${username}`;
}
