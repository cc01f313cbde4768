/**
 * What a message says, in words: its text with the addresses of its links, what it answers, and what it
 * brings that is neither text nor a file.
 *
 * @module
 */

import type { Message, MessageEntity } from "grammy/types";
import { type BotIdentity, commandOf } from "./is_addressed.ts";

/** Characters of a message that is answered. */
const MAX_QUOTED_CHARS = 2_000;

/** The text for the agent; "" where nothing is said. */
export function messageWords(message: Message, bot: BotIdentity): string {
  const own = ownWords(message, bot);
  const origin = forwarded(message) || writtenBy(message);
  // A command stands by itself. What somebody else has written is none of who passes it on.
  if (own.startsWith("/") && origin === "") return own;
  return [origin, quoted(message, bot), own].filter((part) => part !== "").join("\n\n");
}

function ownWords(message: Message, bot: BotIdentity): string {
  const raw = message.text ?? message.caption ?? "";
  const entities = message.entities ?? message.caption_entities ?? [];
  const text = withoutAddress(withLinks(raw, entities), bot);
  const command = commandOf(text);
  // The button that begins every conversation.
  if (
    message.forward_origin === undefined && command?.name === "start" &&
    message.chat.type === "private"
  ) return "/help";
  return [text, otherWords(message)].filter((part) => part !== "").join("\n");
}

/** Links whose address is not their text. */
function withLinks(text: string, entities: readonly MessageEntity[]): string {
  const links = entities.filter((entity) => entity.type === "text_link")
    .toSorted((one, other) => other.offset - one.offset);
  return links.reduce((said, { offset, length, url }) => {
    const end = offset + length;
    return `${said.slice(0, end)} (${url})${said.slice(end)}`;
  }, text);
}

/** The bot's own name in front says to whom, which is known by now. */
function withoutAddress(text: string, { username }: BotIdentity): string {
  const name = `@${username}`.toLowerCase();
  const begins = text.trimStart();
  if (!begins.toLowerCase().startsWith(name)) return text.trim();
  const rest = begins.slice(name.length);
  return /^\w/.test(rest) ? text.trim() : rest.replace(/^[\s,:]+/, "").trim();
}

/** Lines of what is answered; the bot's own messages are known to it. */
function quoted(message: Message, { id }: BotIdentity): string {
  const { reply_to_message: replied, quote } = message;
  if (replied === undefined || replied.forum_topic_created !== undefined) return "";
  if (replied.from?.id === id && quote === undefined) return "";
  const said = (quote?.text ?? replied.text ?? replied.caption ?? otherWords(replied)).trim();
  if (said === "") return "";
  const lines = said.slice(0, MAX_QUOTED_CHARS).toWellFormed().split("\n");
  return [`In reply to ${nameOf(replied)}:`, ...lines.map((line) => `> ${line}`)].join("\n");
}

function forwarded({ forward_origin: origin }: Message): string {
  if (origin === undefined) return "";
  switch (origin.type) {
    case "user":
      return `Forwarded from ${nameOfUser(origin.sender_user)}:`;
    case "hidden_user":
      return `Forwarded from ${origin.sender_user_name}:`;
    case "chat":
      return `Forwarded from ${titleOf(origin.sender_chat)}:`;
    default:
      return `Forwarded from ${titleOf(origin.chat)}:`;
  }
}

/** Words that another bot has offered to whoever sent them (`@bot …`). */
function writtenBy({ via_bot: bot }: Message): string {
  return bot === undefined ? "" : `Written by the bot ${nameOfUser(bot)}:`;
}

function otherWords(message: Message): string {
  const { sticker, venue, location, contact, poll, dice } = message;
  if (sticker !== undefined) return `(a sticker${sticker.emoji ? ` ${sticker.emoji}` : ""})`;
  if (venue !== undefined) {
    const { latitude, longitude } = venue.location;
    return `(a place: ${venue.title}, ${venue.address}, ${latitude}, ${longitude})`;
  }
  if (location !== undefined) return `(a location: ${location.latitude}, ${location.longitude})`;
  if (contact !== undefined) {
    const name = [contact.first_name, contact.last_name].filter((part) => part).join(" ");
    return `(a contact: ${name}, ${contact.phone_number})`;
  }
  if (poll !== undefined) {
    return `(a poll: ${poll.question}: ${poll.options.map(({ text }) => text).join("; ")})`;
  }
  if (dice !== undefined) return `(${dice.emoji}: ${dice.value})`;
  if (message.story !== undefined) return "(a story, which bots cannot see)";
  return "";
}

/** How whoever wrote a message is called. */
export function nameOf({ from, sender_chat: chat }: Message): string {
  if (chat !== undefined) return titleOf(chat);
  return from === undefined ? "somebody" : nameOfUser(from);
}

/** How a person is called. */
export function nameOfUser(
  { first_name, last_name }: { first_name: string; last_name?: string },
): string {
  const name = [first_name, last_name].filter((part) => part).join(" ");
  return name.replace(/\s+/g, " ").slice(0, 200).toWellFormed();
}

function titleOf(chat: { title?: string; first_name?: string }): string {
  return chat.title ?? chat.first_name ?? "a chat";
}
