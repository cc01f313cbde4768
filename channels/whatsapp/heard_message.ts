/**
 * What somebody has written, as it waits in the inbox: who, where, whose words, and how to fetch its files.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import {
  isJidGroup,
  isPnUser,
  jidDecode,
  jidNormalizedUser,
  type MediaType,
  normalizeMessageContent,
  proto,
  toNumber,
  type WAMessage,
  type WAMessageKey,
} from "baileys";
import type { TextPart } from "../../lib/contract/text_part.ts";
import { others, splitQuotes } from "../../lib/channel/platform/mod.ts";

/** A file, still encrypted on WhatsApp's servers. */
export interface HeardFile {
  name: string;
  bytes: number;
  kind: MediaType;
  isVoice: boolean;
  isAudio: boolean;
  provenance: NonNullable<TextPart["provenance"]>;
  /** Path on whichever of the servers. */
  path: string;
  /** In base64. */
  key: string;
}

export interface HeardMessage {
  key: Pick<WAMessageKey, "remoteJid" | "id" | "participant">;
  chatId: string;
  senderId: string;
  senderName?: string;
  sentAt: number;
  parts: TextPart[];
  files: HeardFile[];
  /** Seconds after which messages of the chat disappear. */
  expiration?: number;
  /** Id of the message that it edits, or takes back where it says nothing. */
  replaces?: string;
}

/** A reaction to a message. */
export interface HeardReaction {
  id: string;
  chatId: string;
  senderId: string;
  senderName?: string;
  emoji: string;
  /** Id of the message. */
  on: string | null | undefined;
}

/** What waits in the inbox. */
export type HeardItem = HeardMessage | { reaction: HeardReaction };

/** Who an account is: by number and, as WhatsApp hides numbers more and more, by another id. */
export interface Account {
  id: string;
  lid?: string;
}

/** What a message is about. */
export interface MessageContent {
  content: proto.IMessage;
  context: proto.IContextInfo;
  /** As that of `HeardMessage`. */
  replaces?: string;
}

/** Without what a message is wrapped in, such as one that disappears, or an edit. */
export function contentOf({ message }: Pick<WAMessage, "message">): MessageContent {
  const outer = normalizeMessageContent(message) ?? {};
  const { type, key, editedMessage } = outer.protocolMessage ?? {};
  const { MESSAGE_EDIT, REVOKE } = proto.Message.ProtocolMessage.Type;
  const replaces = type === MESSAGE_EDIT || type === REVOKE ? key?.id || undefined : undefined;
  const content = replaces === undefined ? outer : normalizeMessageContent(editedMessage) ?? {};
  const context =
    Object.values(content).find((one) =>
      typeof one === "object" && one !== null && "contextInfo" in one && one.contextInfo
    )?.contextInfo ?? {};
  return { content, context, ...replaces !== undefined && { replaces } };
}

/**
 * The number of somebody, or the other id where WhatsApp keeps the number to itself. `numberOf` knows the
 * numbers that came with earlier messages.
 */
export async function personOf(
  key: WAMessageKey,
  numberOf: (jid: string) => Promise<string | null>,
): Promise<string> {
  const jid = key.participant || key.remoteJid || "";
  const known = [jid, key.participantAlt, key.remoteJidAlt].find(isPnUser) ?? await numberOf(jid);
  return known ? jidDecode(known)?.user ?? "" : jidNormalizedUser(jid);
}

/** Where somebody is written to, or a group. */
export function jidOf(chatId: string): string {
  return chatId.includes("@") ? chatId : `${chatId}@s.whatsapp.net`;
}

/** A message of somebody, or undefined for one that says nothing. */
export function heardMessage(
  { key, pushName, messageTimestamp }: WAMessage,
  { content, context, replaces }: MessageContent,
  { senderId, account }: { senderId: string; account: Account },
): HeardMessage | undefined {
  const { remoteJid, id, participant } = key;
  const isForwarded = context.isForwarded === true;
  const text = withoutMention(textOf(content), account);
  const files = filesOf(content, isForwarded ? "forwarded" : "file");
  // A recording of the sender that is all of the message is what they say.
  if (files[0]?.isVoice && !isForwarded) files[0].provenance = "own";
  const own = isForwarded ? others("forwarded", text) : splitQuotes(text);
  const parts = [...own, ...others(isForwarded ? "forwarded" : "file", otherContent(content))]
    .filter((part) => part.text.trim() !== "");
  if (parts.length === 0 && files.length === 0 && replaces === undefined) return undefined;
  const quoted = isMe(context.participant, account)
    ? {}
    : normalizeMessageContent(context.quotedMessage) ?? {};
  if (files.length === 0) files.push(...filesOf(quoted, "quoted"));
  const sentAt = toNumber(messageTimestamp ?? 0) * 1_000;
  return {
    key: { remoteJid, id, ...participant ? { participant } : {} },
    chatId: isJidGroup(remoteJid ?? "") ? remoteJid! : senderId,
    senderId,
    ...pushName ? { senderName: pushName } : {},
    sentAt,
    parts: [...others("quoted", textOf(quoted)), ...parts],
    files,
    ...context.expiration ? { expiration: context.expiration } : {},
    ...replaces !== undefined && { replaces },
  };
}

/** Whether it speaks to the account: by its name, or as an answer to what it wrote. */
export function isAddressed({ context }: MessageContent, account: Account): boolean {
  return [...context.mentionedJid ?? [], context.participant].some((jid) => isMe(jid, account));
}

function isMe(jid: string | null | undefined, { id, lid }: Account): boolean {
  const user = jidDecode(jid ?? "")?.user;
  return user !== undefined && [id, lid].some((own) => jidDecode(own)?.user === user);
}

/** What was typed. */
function textOf(content: proto.IMessage): string {
  return content.conversation || content.extendedTextMessage?.text ||
    content.imageMessage?.caption || content.videoMessage?.caption ||
    content.documentMessage?.caption || content.buttonsResponseMessage?.selectedDisplayText ||
    content.listResponseMessage?.title || content.templateButtonReplyMessage?.selectedDisplayText ||
    "";
}

/** Whoever is mentioned stands in the text by the digits of an id. */
function withoutMention(text: string, { id, lid }: Account): string {
  const digits = [id, lid].flatMap((jid) => jidDecode(jid)?.user ?? []);
  return text.replace(new RegExp(`^\\s*@(?:${digits.join("|")})(?!\\d)[ ,:]*`), "");
}

/** In words, what is neither text nor file. */
function otherContent(content: proto.IMessage): string {
  const place = content.locationMessage ?? content.liveLocationMessage;
  const people = content.contactsArrayMessage?.contacts ??
    (content.contactMessage ? [content.contactMessage] : []);
  const poll = content.pollCreationMessage ?? content.pollCreationMessageV2 ??
    content.pollCreationMessageV3;
  const words = [
    ...place ? [`a location: ${place.degreesLatitude}, ${place.degreesLongitude}`] : [],
    ...people.map(({ displayName, vcard }) =>
      `a contact: ${displayName} ${/^TEL[^:]*:(.+)$/m.exec(vcard ?? "")?.[1] ?? ""}`.trim()
    ),
    ...poll
      ? [`a poll: ${[poll.name, ...poll.options?.map((one) => one.optionName) ?? []].join(", ")}`]
      : [],
    ...content.stickerMessage ? ["a sticker"] : [],
  ];
  return words.map((one) => `(${one})`).join("\n");
}

function filesOf(content: proto.IMessage, provenance: HeardFile["provenance"]): HeardFile[] {
  const { imageMessage, videoMessage, ptvMessage, audioMessage, documentMessage } = content;
  const media = [
    ["image", imageMessage, "picture"],
    ["video", videoMessage ?? ptvMessage, "video"],
    ["audio", audioMessage, audioMessage?.ptt ? "voice message" : "audio"],
    ["document", documentMessage, "document"],
  ] as const;
  return media.flatMap(([kind, file, name]) => {
    if (!file?.mediaKey || !file.directPath) return [];
    const [type, subtype = "bin"] = (file.mimetype ?? "").split(";")[0]!.split("/");
    return [{
      name: documentMessage?.fileName || `${name}.${subtype.replace(/^x-|\+.*$/g, "")}`,
      bytes: toNumber(file.fileLength ?? 0),
      kind,
      isVoice: audioMessage?.ptt === true,
      isAudio: kind === "audio" || type === "audio",
      provenance,
      path: file.directPath,
      key: Buffer.from(file.mediaKey).toString("base64"),
    }];
  });
}
