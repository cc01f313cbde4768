/**
 * What a message on XMPP means for the agent: who wrote it, where its answer goes, what it says, and
 * whether it is for us at all.
 *
 * @module
 */

import { bareJid, foldJid, isUnder, parseJid, resourceOf } from "../client/jid.ts";
import { NS } from "../client/namespaces.ts";
import type { XmlElement } from "../client/xmpp_library.ts";
import type { Occupant, Room } from "../rooms/room.ts";
import { addressedText } from "./addressed_text.ts";
import { encryptionOf } from "./encryption.ts";
import type { HeardMessage } from "./heard_message.ts";
import { archiveIdOf, messageIdOf } from "./message_ids.ts";

/** What has to be known of the connection and the settings. */
export interface ReadContext {
  /** Ours. */
  jid: string;
  room: (jid: string) =>
    | Pick<
      Room,
      "jid" | "nick" | "wantedNick" | "isIn" | "isBelieved" | "has" | "occupant" | "occupantWithId"
    >
    | undefined;
  /** Whether the server of the account takes ids out that others have written in. */
  keepsIds: boolean;
  respond: "mention" | "all";
  /** Addresses and nicks of bots, in small letters. */
  ignored: ReadonlySet<string>;
  /** `messageId` of a message that was heard, by its author and an id that it has on the wire. */
  heard: (author: string, id: string) => string | undefined;
  /** Milliseconds since 1970. */
  now: number;
}

/** Where a message was found in an archive. */
export interface ArchivedAt {
  id: string;
  /** Milliseconds since 1970. */
  sentAt: number;
}

/** Characters of a text that are looked at; more than the service takes. */
const MAX_TEXT_CHARS = 256 * 1024;
const MAX_URLS = 8;
const MAX_URL_CHARS = 4_000;
const MAX_THREAD_CHARS = 256;

/** Feature of a room in which everybody sees who is who (XEP-0045, 15.5.1). */
const SHOWS_ADDRESSES = "muc_nonanonymous";

/**
 * Undefined for what is not for us: errors and announcements, what we have written ourselves, copies of
 * what others have got, talk of others, and what says nothing.
 */
export function readMessage(
  message: XmlElement,
  context: ReadContext,
  archived?: ArchivedAt,
): HeardMessage | undefined {
  const { type = "normal", from = "", id = "" } = message.attrs;
  const sender = parseJid(from);
  if (sender === undefined || sender.local === "" || type === "error" || type === "headline") {
    return undefined;
  }
  // A copy of a message that somebody else has got says nothing of who wrote it (XEP-0280, 11).
  const isCopy = message.getChildElements().some((child) =>
    child.is("forwarded", NS.forward) || child.getNS() === NS.carbons ||
    child.is("result", NS.archive)
  );
  if (isCopy) return undefined;
  const own = bareJid(context.jid);
  const chatId = `${sender.local}@${sender.domain}`;
  const isRoom = type === "groupchat";
  const known = context.room(chatId);
  // Through a room, in private: whoever has the nick next would get the answer.
  const isPrivate = known !== undefined || message.getChild("x", NS.mucUser) !== undefined;
  if (isRoom ? known === undefined : isPrivate) return undefined;
  const room = isRoom ? known : undefined;
  const senderId = room === undefined ? chatId : senderIn(room, message, context, archived);
  const isIgnored = room === undefined && context.ignored.has(chatId.toLowerCase());
  if (senderId === undefined || senderId === own || isIgnored) return undefined;
  const who = { chatId, isRoom, senderId, from };
  const said = readSaid(message, (id) => context.heard(authorOf(who), id));
  const content = room === undefined ? said?.text : said && heardIn(room, said, message, context);
  if (said === undefined || content === undefined) return undefined;
  const keepsIds = room === undefined
    ? context.keepsIds
    : room.has(NS.stanzaIds) || room.has(NS.archive);
  const archiveId = archived?.id ?? (keepsIds ? archiveIdOf(message, room?.jid ?? own) : undefined);
  const thread = isRoom ? "" : message.getChildText("thread")?.slice(0, MAX_THREAD_CHARS);
  const wants = (name: string, xmlns: string) =>
    !isRoom && id !== "" && message.getChild(name, xmlns) !== undefined;
  return {
    ...who,
    senderName: isRoom ? sender.resource : sender.local,
    content,
    urls: said.urls,
    messageId: messageIdOf(message, archiveId),
    replaces: said.replaces,
    sentAt: archived?.sentAt ?? delayOf(message, [own, domainOf(own)]) ?? context.now,
    id,
    replyId: isRoom ? archiveId ?? "" : id,
    thread: thread || undefined,
    wantsReceipt: wants("request", NS.receipts),
    wantsMarker: wants("markable", NS.markers),
    isEncrypted: said.isEncrypted,
  };
}

type ReadRoom = NonNullable<ReturnType<ReadContext["room"]>>;

/** Who has written in a room; undefined for a nick of ours, for the room, and for whom nobody is to hear. */
function senderIn(
  room: ReadRoom,
  message: XmlElement,
  { ignored }: ReadContext,
  archived: ArchivedAt | undefined,
): string | undefined {
  const nick = resourceOf(message.attrs.from!);
  // The room itself, or before we are in it.
  if (nick === "" || (!room.isIn && archived === undefined)) return undefined;
  // What was said before we came: the archive has it, where there is one.
  if (archived === undefined && message.getChild("delay", NS.delay) !== undefined) return undefined;
  const occupant = occupantOf(message, room, archived);
  if (occupant === undefined) return undefined;
  const { jid, occupantId } = occupant;
  // Of old messages nobody says any more under which of its nicks we were known; lines stand behind it
  // where it was in use.
  const plainNick = room.wantedNick.replace(/_*$/, "");
  const isOwnNick = archived === undefined
    ? nick === room.nick
    : jid === undefined && (nick === room.nick || nick.replace(/_*$/, "") === plainNick);
  const isIgnored = [nick, jid].some((one) => one && ignored.has(one.toLowerCase()));
  if (isOwnNick || isIgnored) return undefined;
  return jid ?? `${room.jid}/${occupantId ?? nick}`;
}

/** What is said to us in a room; undefined for what is not. */
function heardIn(
  room: ReadRoom,
  { text, replaces, isEncrypted }: Said,
  message: XmlElement,
  { jid, respond }: ReadContext,
): string | undefined {
  // One that is encrypted says to nobody whom it is for.
  if (isEncrypted && respond !== "all") return undefined;
  const us = { own: bareJid(jid), room: room.jid, nick: room.nick };
  const isForUs = respond === "all" || replaces !== undefined || isMention(message, us);
  return addressedText(text, room.nick) ?? (isForUs ? text : undefined);
}

/** Who wrote in a room. Undefined where the room says who is who, and does not say it of this one. */
function occupantOf(
  message: XmlElement,
  room: ReadRoom,
  archived: ArchivedAt | undefined,
): Occupant | undefined {
  const nick = resourceOf(message.attrs.from!);
  // The room takes out what somebody has written in himself (XEP-0421, 4).
  const ids = message.getChildren("occupant-id", NS.occupantId);
  const stampedId = room.has(NS.occupantId) && ids.length === 1 ? ids[0]!.attrs.id : undefined;
  // A nick may be somebody else's by now, an id may not.
  const known = archived === undefined
    ? room.occupant(nick)
    : stampedId === undefined
    ? undefined
    : room.occupantWithId(stampedId);
  const users = message.getChildren("x", NS.mucUser);
  // A room that shows addresses writes each into its archive; in any other the sender may have done so.
  const stamped = archived === undefined || users.length !== 1 || !room.has(SHOWS_ADDRESSES)
    ? undefined
    : users[0]!.getChild("item")?.attrs.jid;
  const jid = known?.jid ?? (stamped === undefined ? undefined : bareJid(stamped));
  if (jid !== undefined && room.isBelieved) return { jid: foldJid(jid) };
  if (!room.has(NS.occupantId)) return {};
  const occupantId = known?.occupantId ?? stampedId;
  return occupantId === undefined || occupantId === "" ? undefined : { occupantId };
}

/** Whether it names us (XEP-0372), or answers us (XEP-0461). */
function isMention(
  message: XmlElement,
  { own, room, nick }: { own: string; room: string; nick: string },
): boolean {
  const us = new Set([`xmpp:${own}`, `xmpp:${room}/${nick}`]);
  const isNamed = message.getChildren("reference", NS.reference).some(({ attrs }) =>
    attrs.type === "mention" && us.has(decode(attrs.uri ?? ""))
  );
  const reply = message.getChild("reply", NS.reply)?.attrs.to;
  return isNamed || reply === `${room}/${nick}` || (reply !== undefined && bareJid(reply) === own);
}

function decode(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri;
  }
}

type Author = Pick<HeardMessage, "isRoom" | "chatId" | "senderId" | "from">;

/** Who may change a message: the connection that it came from, or whoever wrote it in a room (XEP-0308, 4). */
export function authorOf({ isRoom, chatId, senderId, from }: Author): string {
  return isRoom ? `${chatId} ${senderId}` : from;
}

/** What a message says. */
interface Said {
  text: string;
  urls: string[];
  isEncrypted: boolean;
  replaces?: string;
}

/**
 * What it says, and in whose place; undefined for nothing. A correction of what was not heard is a message
 * as any other. `heard`: by the id of one of the same author.
 */
function readSaid(
  message: XmlElement,
  heard: (id: string) => string | undefined,
): Said | undefined {
  const retraction = message.getChild("retract", NS.retract);
  const change = retraction ?? message.getChild("replace", NS.replace);
  const replaces = change && heard(change.attrs.id ?? "");
  // What else stands there is for programs that know no retractions.
  if (retraction !== undefined) {
    return replaces === undefined
      ? undefined
      : { text: "", urls: [], isEncrypted: false, replaces };
  }
  const said = readContent(message);
  return said && { ...said, replaces };
}

/** What it says; undefined for nothing. */
function readContent(message: XmlElement): Said | undefined {
  const encryption = encryptionOf(message);
  if (encryption === "key") return undefined;
  if (encryption === "text") return { text: "", urls: [], isEncrypted: true };
  const body = (message.getChildText("body") ?? "").slice(0, MAX_TEXT_CHARS).toWellFormed();
  const urls = [
    ...new Set(
      message.getChildren("x", NS.oob).map((oob) => oob.getChildText("url")?.trim() ?? "")
        .filter((url) => url !== "" && url.length <= MAX_URL_CHARS),
    ),
  ].slice(0, MAX_URLS);
  const text = withoutQuote(message, body);
  // The text of a file is its address.
  const said = urls.includes(text.trim()) ? "" : text.trim();
  return said === "" && urls.length === 0 ? undefined : { text: said, urls, isEncrypted: false };
}

/** Programs that know no answers are shown what is answered as a quote (XEP-0461, 3; XEP-0428). */
function withoutQuote(message: XmlElement, body: string): string {
  const fallback = message.getChildren("fallback", NS.fallback)
    .find(({ attrs }) => attrs.for === NS.reply)?.getChild("body");
  const [start, end] = [Number(fallback?.attrs.start), Number(fallback?.attrs.end)];
  if (fallback === undefined || !(start >= 0 && end > start)) return body;
  // Counted in code points.
  const points = [...body];
  return [...points.slice(0, start), ...points.slice(end)].join("");
}

/** When it was written, where somebody who may say so says it (XEP-0203). */
function delayOf(message: XmlElement, by: readonly string[]): number | undefined {
  for (const { attrs } of message.getChildren("delay", NS.delay)) {
    const isFromServer = attrs.from === undefined || by.includes(foldJid(attrs.from));
    const ms = Date.parse(attrs.stamp ?? "");
    if (isFromServer && Number.isFinite(ms)) return ms;
  }
  return undefined;
}

/** The domain of an address. */
function domainOf(jid: string): string {
  const bare = bareJid(jid);
  return bare.slice(bare.indexOf("@") + 1);
}

/**
 * A room that somebody invites us to, with who that is. What a service says of who invited counts where it
 * is our server's (XEP-0045, 7.8.2), else who has sent it himself (XEP-0249).
 */
export function readInvitation(
  message: XmlElement,
  jid: string,
): { room: string; by: string; password?: string } | undefined {
  const from = parseJid(message.attrs.from ?? "");
  if (from === undefined || message.attrs.type === "error") return undefined;
  const bare = from.local === "" ? from.domain : `${from.local}@${from.domain}`;
  const user = message.getChild("x", NS.mucUser);
  const by = user?.getChild("invite")?.attrs.from;
  const own = domainOf(jid);
  // Whoever has an account at the domain itself is a person.
  if (by !== undefined && from.domain !== own && isUnder(from.domain, own)) {
    const password = user?.getChildText("password") ?? undefined;
    return { room: bare, by: foldJid(bareJid(by)), ...password && { password } };
  }
  const direct = message.getChild("x", NS.invite);
  const room = direct === undefined ? undefined : parseJid(foldJid(direct.attrs.jid ?? ""));
  if (room === undefined || room.local === "" || room.resource !== "") return undefined;
  const password = direct!.attrs.password;
  return { room: `${room.local}@${room.domain}`, by: bare, ...password && { password } };
}
