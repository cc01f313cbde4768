/**
 * What a message of Discord is to the agent: whether it is heard, and what it says.
 *
 * @module
 */

import type { TextPart } from "../../../lib/channel/mod.ts";
import { inPieces, mentionOf, others, splitQuotes } from "../../../lib/channel/platform/mod.ts";
import { isSnowflake, snowflakeTime } from "../rest/discord_api.ts";
import type { InboundFile, InboundItem } from "./inbound_item.ts";

/** What it depends on. */
export interface Hearing {
  /** Id of the bot. */
  selfId: string;
  respond: "mention" | "all";
  /** Whether the channel is a thread that was opened for an answer of the bot. */
  isOwnThread: (channelId: string) => boolean;
}

/** DEFAULT and REPLY; others say what happened on the server. */
const SAID: readonly unknown[] = [0, 19];

const IS_VOICE_MESSAGE = 1 << 13;

const MAX_QUOTE_CHARS = 500;
const MAX_FILES = 100;

type Json = Readonly<Record<string, unknown>>;

/** Undefined for what is not for the agent, and for what is no message at all. */
export function readMessage(said: unknown, hearing: Hearing): InboundItem | undefined {
  const message = object(said);
  const author = object(message.author);
  const { id, channel_id: channelId } = message;
  const senderId = author.id;
  if (!isSnowflake(id) || !isSnowflake(channelId) || !isSnowflake(senderId)) return undefined;
  if (senderId === hearing.selfId || author.bot === true || author.system === true) {
    return undefined;
  }
  if (message.webhook_id !== undefined && message.webhook_id !== null) return undefined;
  if (!SAID.includes(message.type ?? 0)) return undefined;
  const isDirect = message.guild_id === undefined || message.guild_id === null;
  const mentions = list(message.mentions).map(object);
  const replied = object(message.referenced_message);
  const isReplyToUs = object(replied.author).id === hearing.selfId;
  const isAddressed = isDirect || hearing.respond === "all" || isReplyToUs ||
    mentions.some((user) => user.id === hearing.selfId) || hearing.isOwnThread(channelId);
  if (!isAddressed) return undefined;
  const files = filesOf(message);
  const own = withNames(text(message.content), mentions, hearing.selfId);
  const words = inPieces([
    ...isReplyToUs ? [] : quoted(replied),
    ...splitQuotes(own, { hasRest: true }),
    ...list(message.message_snapshots)
      .flatMap((one) => others("forwarded", text(object(object(one).message).content))),
    ...list(message.sticker_items).flatMap((one) =>
      others("file", text(object(one).name), "sticker")
    ),
  ]);
  if (words.content === "" && files.length === 0) return undefined;
  const senderName = text(object(message.member).nick) || text(author.global_name) ||
    text(author.username);
  return {
    senderId,
    ...senderName !== "" && { senderName: senderName.slice(0, 100) },
    chatId: channelId,
    ...words,
    messageId: id,
    sentAt: snowflakeTime(id),
    files,
    isVoice: (Number(message.flags) & IS_VOICE_MESSAGE) !== 0 && files.length > 0,
    mayThread: !isDirect,
    isMessage: true,
    metadata: { message_id: id, channel_id: channelId, ...isDirect && { direct: true } },
  };
}

/** The files of a message, of those it forwards too. */
export function filesOf(message: Json): InboundFile[] {
  const snapshots = list(message.message_snapshots).map((one) => object(object(one).message));
  return [message, ...snapshots].flatMap(({ attachments }) => list(attachments)).slice(0, MAX_FILES)
    .map(object).filter(({ url }) => /^https?:\/\//.test(text(url))).map((file) => ({
      name: text(file.filename).slice(0, 200) || "file",
      url: file.url as string,
      sizeBytes: Number(file.size) || 0,
      ...typeof file.content_type === "string" && { contentType: file.content_type.slice(0, 100) },
    }));
}

/** The mention that a message begins with calls the bot, and is no part of what it says. */
function withNames(content: string, mentions: readonly Json[], selfId: string): string {
  const names = new Map(
    mentions.map((user) => [user.id, text(user.global_name) || text(user.username)]),
  );
  return content.replace(new RegExp(`^\\s*<@!?${selfId}>[\\s,:]*`), "")
    .replaceAll(/<@!?(\d{17,20})>/g, (mark, id) => {
      const name = names.get(id);
      return name === undefined || name === "" ? mark : mentionOf(name);
    });
}

function quoted(replied: Json): TextPart[] {
  const content = text(replied.content);
  const { username, global_name: shown } = object(replied.author);
  const short = content.length > MAX_QUOTE_CHARS
    ? `${content.slice(0, MAX_QUOTE_CHARS)}…`
    : content;
  return others("quoted", short, text(shown) || text(username) || "somebody");
}

/** An object, whatever was sent in its place. */
export function object(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Json : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
