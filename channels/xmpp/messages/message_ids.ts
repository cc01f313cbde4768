/**
 * By which ids a message is known (XEP-0359).
 *
 * @module
 */

import { createHash } from "node:crypto";
import { foldJid } from "../client/jid.ts";
import { NS } from "../client/namespaces.ts";
import type { XmlElement } from "../client/xmpp_library.ts";

const MAX_ID_CHARS = 256;

/**
 * The id that an archive has given to a message; undefined where there is none, or where it cannot be told
 * from one that the sender has made up.
 */
export function archiveIdOf(message: XmlElement, by: string): string | undefined {
  const ids = idsBy(message, by);
  return ids.length === 1 ? usable(ids[0]!.attrs.id) : undefined;
}

/** Whether a sender has made one up, and the server has let it through beside its own. */
export function hasForgedId(message: XmlElement, by: string): boolean {
  return idsBy(message, by).length > 1;
}

function idsBy(message: XmlElement, by: string): XmlElement[] {
  return message.getChildren("stanza-id", NS.stanzaIds)
    .filter(({ attrs }) => attrs.by !== undefined && foldJid(attrs.by) === by);
}

/** The id by which a message is told from its repeats: that of the archive, else what its writer gave it. */
export function messageIdOf(message: XmlElement, archiveId: string | undefined): string {
  if (archiveId !== undefined) return `archive:${archiveId}`;
  const origin = usable(message.getChild("origin-id", NS.stanzaIds)?.attrs.id);
  if (origin !== undefined) return `origin:${origin}`;
  // Some programs count from one in each connection: the same number with another text is another message.
  const id = usable(message.attrs.id);
  const text = message.getChildText("body") ?? "";
  const textHash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return id === undefined ? `none:${crypto.randomUUID()}` : `id:${id}:${textHash}`;
}

/** An id that somebody gave a message, where it is fit to name it. */
export function usable(id: string | undefined): string | undefined {
  if (id === undefined || id.trim() === "" || id.length > MAX_ID_CHARS) return undefined;
  return /[\p{Cc}\p{Cs}]/u.test(id) ? undefined : id;
}
