/**
 * What a message says, in words: its text with the addresses of its links, what it answers, and what it
 * brings that is neither text nor a file.
 *
 * @module
 */

import type { Message, MessageEntity } from "grammy/types";
import type { TextPart } from "../../../lib/channel/mod.ts";
import { mentionOf, others, splitQuotes } from "../../../lib/channel/platform/mod.ts";
import { type BotIdentity, commandOf } from "./is_addressed.ts";

/** Characters of a text that is heard, as many as Telegram has in a message many times. */
const MAX_TEXT_CHARS = 64 * 1024;

/** Characters of a message that is answered. */
const MAX_QUOTED_CHARS = 2_000;

/** The text for the agent, in pieces; none where nothing is said. */
export function messageWords(message: Message, bot: BotIdentity): TextPart[] {
  const passedOn = othersWords(message, bot);
  if (passedOn !== undefined) return [...quoted(message, bot), ...passedOn];
  const own = ownWords(message, bot);
  // A command stands by itself.
  return own[0]?.text.startsWith("/") ? own : [...quoted(message, bot), ...own];
}

/** What somebody else has written, whole: it is none of who passes it on. */
function othersWords(message: Message, bot: BotIdentity): TextPart[] | undefined {
  const { forward_origin: origin, via_bot: program } = message;
  if (origin === undefined && program === undefined) return undefined;
  const text = [...typedWords(message, bot), { text: otherWords(message) }]
    .map(({ text }) => text).filter((text) => text !== "").join("\n");
  return origin !== undefined
    ? others("forwarded", text, originName(origin))
    : others("tool", text, nameOfUser(program!));
}

function ownWords(message: Message, bot: BotIdentity): TextPart[] {
  const typed = typedWords(message, bot);
  const command = commandOf(typed[0]?.text ?? "");
  // The button that begins every conversation.
  if (command?.name === "start" && message.chat.type === "private") return [{ text: "/help" }];
  const more = otherWords(message);
  // A place, a contact and a poll are as somebody else has named them.
  const isNamed = [message.venue, message.contact, message.poll].some((one) => one !== undefined);
  return [...typed, ...isNamed ? others("file", more) : [{ text: more }]];
}

/** The text, its quotes apart. */
function typedWords(message: Message, bot: BotIdentity): TextPart[] {
  const raw = (message.text ?? message.caption ?? "").slice(0, MAX_TEXT_CHARS);
  const entities = message.entities ?? message.caption_entities ?? [];
  const pieces: TextPart[] = [];
  let at = 0;
  const own = (end: number) => {
    const text = withMarks(raw, entities, [at, end], bot);
    pieces.push(...splitQuotes(at === 0 ? withoutAddress(text, bot) : text.trim()));
  };
  for (const { type, offset, length } of entities) {
    if (type !== "blockquote" && type !== "expandable_blockquote" || offset < at) continue;
    own(offset);
    at = offset + length;
    pieces.push(...others("quoted", withMarks(raw, entities, [offset, at], bot)));
  }
  own(raw.length);
  return pieces.filter(({ text }) => text.trim() !== "");
}

/** A part of the text, with the addresses of links that are not their text, and names as mentions. */
function withMarks(
  text: string,
  entities: readonly MessageEntity[],
  [from, to]: readonly [number, number],
  bot: BotIdentity,
): string {
  const inside = entities.filter(({ offset, length }) => offset >= from && offset + length <= to)
    .toSorted((one, other) => other.offset - one.offset);
  return inside.reduce((said, entity) => {
    const start = entity.offset - from;
    const end = start + entity.length;
    const marked = said.slice(start, end);
    if (entity.type === "text_link") {
      return `${said.slice(0, end)} (${entity.url})${said.slice(end)}`;
    }
    if (entity.type !== "text_mention" || entity.user.id === bot.id) return said;
    return said.slice(0, start) + mentionOf(marked.replace(/^@/, "")) + said.slice(end);
  }, text.slice(from, to));
}

/** The bot's own name in front says to whom, which is known by now. */
function withoutAddress(text: string, { username }: BotIdentity): string {
  const name = `@${username}`.toLowerCase();
  const begins = text.trimStart();
  if (!begins.toLowerCase().startsWith(name)) return text.trim();
  const rest = begins.slice(name.length);
  return /^\w/.test(rest) ? text.trim() : rest.replace(/^[\s,:]+/, "").trim();
}

/** What is answered; the bot's own messages are known to it. */
function quoted(message: Message, { id }: BotIdentity): TextPart[] {
  const { reply_to_message: replied, quote } = message;
  if (replied === undefined || replied.forum_topic_created !== undefined) return [];
  if (replied.from?.id === id && quote === undefined) return [];
  const said = (quote?.text ?? replied.text ?? replied.caption ?? otherWords(replied)).trim();
  return others("quoted", said.slice(0, MAX_QUOTED_CHARS).toWellFormed(), nameOf(replied));
}

function originName(origin: NonNullable<Message["forward_origin"]>): string {
  switch (origin.type) {
    case "user":
      return nameOfUser(origin.sender_user);
    case "hidden_user":
      return origin.sender_user_name.slice(0, 200);
    case "chat":
      return titleOf(origin.sender_chat);
    default:
      return titleOf(origin.chat);
  }
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
function nameOf({ from, sender_chat: chat }: Message): string {
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
  return (chat.title ?? chat.first_name ?? "a chat").slice(0, 200);
}
