/**
 * What signal-cli notifies of, as far as it is for the agent: a message, or a reaction to one of ours.
 *
 * @module
 */

import { mentionOf } from "../../../lib/channel/platform/mod.ts";

/** An attachment, which signal-cli has fetched by then. */
export interface SignalFile {
  id: string;
  name: string;
  contentType: string;
  bytes?: number;
}

/** A message as it waits in the inbox. */
export interface HeardMessage {
  chatId: string;
  /** Account id, or the number of an account that shows none. */
  senderId: string;
  senderName?: string;
  /** With its sender the id of the message; milliseconds since 1970. */
  timestamp: number;
  /** Timestamp of the message that it is an edit of, or the removal, where it says nothing; or of the edit before. */
  replaces?: number;
  text: string;
  /** What it answers. */
  quote?: { text: string; author?: string };
  files: readonly SignalFile[];
}

/** A message, and whether it is for the agent. */
export interface ReadMessage {
  kind: "message";
  message: HeardMessage;
  isGroup: boolean;
  /** It mentions us, answers a message of ours, or is a command. */
  isAddressed: boolean;
}

/** A reaction that was set. */
export interface ReadReaction {
  kind: "reaction";
  chatId: string;
  senderId: string;
  senderName?: string;
  id: string;
  emoji: string;
  /** Time of the message. */
  target: number;
}

/** Somebody whose message cannot be read, as signal-cli doesn't trust their new keys. */
export interface UntrustedSender {
  kind: "untrusted";
  senderId: string;
}

/** Our account. */
export interface OwnAccount {
  number: string;
  /** Account id, where it is known. */
  uuid: string | undefined;
}

type Json = Readonly<Record<string, unknown>>;

const GROUP = "group:";

/** Stands in a text for whoever is mentioned there. */
const PLACEHOLDER = "\uFFFC";

/** The chat of a group, by its id as signal-cli has it. */
export function groupChatId(groupId: string): string {
  return GROUP + groupId;
}

/** To whom a chat is sent, as `send` of signal-cli takes it; undefined for what is no chat. */
export function recipientOf(
  chatId: string,
): { groupId: string } | { recipient: string[] } | undefined {
  if (/^group:[A-Za-z0-9+/]{20,}={0,2}$/.test(chatId)) {
    return { groupId: chatId.slice(GROUP.length) };
  }
  const isPerson = /^(?:\+\d{6,15}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.test(chatId);
  return isPerson ? { recipient: [chatId] } : undefined;
}

/**
 * Undefined for what is not for the agent: receipts, signs of typing, calls, stories, and what the account
 * itself writes on another device.
 */
export function readEnvelope(
  params: unknown,
  me: OwnAccount,
): ReadMessage | ReadReaction | UntrustedSender | undefined {
  const outer = objectOf(params);
  // A subscription wraps what it tells of.
  const { envelope: found, account, exception } = "result" in outer
    ? objectOf(outer.result)
    : outer;
  const envelope = objectOf(found);
  const edit = objectOf(envelope.editMessage);
  const data = objectOf(envelope.dataMessage ?? edit.dataMessage);
  const senderId = textOf(envelope.sourceUuid) ?? textOf(envelope.sourceNumber);
  if (objectOf(exception).type === "UntrustedIdentityException" && senderId !== undefined) {
    return { kind: "untrusted", senderId };
  }
  const timestamp = numberOf(data.timestamp);
  const isOurs = senderId === me.uuid || envelope.sourceNumber === me.number;
  if (senderId === undefined || timestamp === undefined || isOurs) return undefined;
  if (account !== undefined && account !== me.number) return undefined;
  const senderName = textOf(envelope.sourceName);
  const groupId = textOf(objectOf(data.groupInfo).groupId);
  const chatId = groupId === undefined ? senderId : groupChatId(groupId);
  const about = { chatId, senderId, ...senderName !== undefined && { senderName }, timestamp };
  const isMe = (one: Json, prefix: string) =>
    one[`${prefix}Number`] === me.number ||
    (me.uuid !== undefined && one[`${prefix}Uuid`] === me.uuid);
  if (data.reaction !== undefined) {
    const reaction = objectOf(data.reaction);
    const { emoji, targetSentTimestamp: target, isRemove } = reaction;
    if (isRemove === true || !isMe(reaction, "targetAuthor")) return undefined;
    const id = `${timestamp}.${senderId}`;
    return { kind: "reaction", ...about, id, emoji: String(emoji), target: numberOf(target) ?? 0 };
  }
  const files = listOf(data.attachments).flatMap((one) => fileOf(objectOf(one)) ?? []);
  const mentions = listOf(data.mentions).map(objectOf);
  const isNamed = mentions.some(({ number, uuid }) =>
    number === me.number || (me.uuid !== undefined && uuid === me.uuid)
  );
  const text = withMentions(textOf(data.message) ?? "", mentions, me);
  const replaces = numberOf(edit.targetSentTimestamp) ??
    numberOf(objectOf(data.remoteDelete).timestamp);
  const isNothing = text === "" && files.length === 0;
  if (isNothing && !isNamed && replaces === undefined) return undefined;
  const quote = data.quote === undefined || data.quote === null ? undefined : objectOf(data.quote);
  // Of a message that was not, nobody knows, and nothing comes of it.
  const isAddressed = replaces !== undefined || isNamed || /^\/[a-z_]+(?:\s|$)/.test(text) ||
    (quote !== undefined && isMe(quote, "author"));
  return {
    kind: "message",
    message: {
      ...about,
      ...replaces !== undefined && { replaces },
      text: isNothing && isNamed ? mentionOf(me.number) : text,
      ...quote !== undefined && { quote: quoteOf(quote) },
      files,
    },
    isGroup: groupId !== undefined,
    isAddressed,
  };
}

/** Names in the place of their marks; ours at the begin falls away. */
function withMentions(text: string, mentions: readonly Json[], me: OwnAccount): string {
  let written = text;
  const last = mentions.toSorted((one, other) => Number(other.start) - Number(one.start));
  for (const { start, length, number, uuid } of last) {
    const at = Number(start);
    if (written[at] !== PLACEHOLDER) continue;
    const isUs = number === me.number || uuid === me.uuid;
    const behind = written.slice(at + Number(length));
    if (isUs && at === 0) written = behind.replace(/^[\s,:]+/, "");
    else {
      const name = mentionOf(isUs ? me.number : textOf(number) ?? String(uuid));
      written = written.slice(0, at) + name + behind;
    }
  }
  return written.trim();
}

function quoteOf(quote: Json): NonNullable<HeardMessage["quote"]> {
  const author = textOf(quote.authorNumber) ?? textOf(quote.authorUuid);
  return { text: textOf(quote.text) ?? "", ...author !== undefined && { author } };
}

/** Undefined for one that signal-cli does not have. */
function fileOf({ id, filename, contentType, size }: Json): SignalFile | undefined {
  if (typeof id !== "string") return undefined;
  const bytes = numberOf(size);
  return {
    id,
    name: textOf(filename) ?? id,
    contentType: textOf(contentType) ?? "application/octet-stream",
    ...bytes !== undefined && { bytes },
  };
}

function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Json : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) ? value as number : undefined;
}
