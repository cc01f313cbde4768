/**
 * Messages as they go out.
 *
 * @module
 */

import { NS } from "../client/namespaces.ts";
import { xml, type XmlElement } from "../client/xmpp_library.ts";
import type { HeardMessage, XmppMetadata } from "./heard_message.ts";

/** What a message says, and to whom. */
export interface Composed {
  to: string;
  isRoom: boolean;
  id: string;
  body: string;
  metadata: XmppMetadata;
  /** Id of the message whose text this one takes the place of (XEP-0308). */
  replaces?: string;
  /** Address of a file; the text is the same then (XEP-0066). */
  url?: string;
}

/** The stanza. */
export function composeMessage(
  { to, isRoom, id, body, metadata, replaces, url }: Composed,
): XmlElement {
  const { thread, replyId, replyTo } = metadata;
  return xml(
    "message",
    { to, type: isRoom ? "groupchat" : "chat", id },
    xml("body", {}, body),
    xml("origin-id", { xmlns: NS.stanzaIds, id }),
    xml("active", { xmlns: NS.chatStates }),
    thread === undefined ? undefined : xml("thread", {}, thread),
    replaces === undefined ? undefined : xml("replace", { xmlns: NS.replace, id: replaces }),
    url === undefined ? undefined : xml("x", { xmlns: NS.oob }, xml("url", {}, url)),
    isRoom && replaces === undefined && replyId && replyTo
      ? xml("reply", { xmlns: NS.reply, to: replyTo, id: replyId })
      : undefined,
  );
}

/** That we are writing, or no longer (XEP-0085); kept nowhere (XEP-0334). */
export function composeState(
  to: string,
  isRoom: boolean,
  state: "composing" | "active",
): XmlElement {
  return xml(
    "message",
    { to, type: isRoom ? "groupchat" : "chat" },
    xml(state, { xmlns: NS.chatStates }),
    xml("no-store", { xmlns: NS.hints }),
  );
}

/** That a message is here (XEP-0184, XEP-0333); undefined where nobody wants to know. */
export function composeReceipt(
  { from, id, wantsReceipt, wantsMarker }: HeardMessage,
): XmlElement | undefined {
  if (!wantsReceipt && !wantsMarker) return undefined;
  return xml(
    "message",
    { to: from, type: "chat", id: crypto.randomUUID() },
    wantsReceipt ? xml("received", { xmlns: NS.receipts, id }) : undefined,
    wantsMarker ? xml("displayed", { xmlns: NS.markers, id }) : undefined,
  );
}

/** What stands in `metadata` of a message that answers another. */
export function metadataOf(
  { thread, isRoom, senderName, replyId, from }: HeardMessage,
): Record<string, string> {
  return {
    ...thread !== undefined && { thread },
    ...isRoom && { nick: senderName },
    ...isRoom && replyId !== "" && { replyId, replyTo: from },
  };
}

/** The same, as it comes back: texts alone, and of bounded length. */
export function readMetadata(metadata: Readonly<Record<string, unknown>>): XmppMetadata {
  return Object.fromEntries(
    ["thread", "nick", "replyId", "replyTo"].map((name) => [name, metadata[name]])
      .filter(([, value]) => typeof value === "string" && value !== "" && value.length <= 3_100),
  );
}
