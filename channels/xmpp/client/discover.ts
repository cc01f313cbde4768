/**
 * What others say that they are and can do (XEP-0030).
 *
 * @module
 */

import { NS } from "./namespaces.ts";
import { StanzaError } from "./stanza_error.ts";
import { xml, type XmlElement } from "./xmpp_library.ts";
import type { XmppSession } from "./xmpp_session.ts";

/** What somebody has answered. */
export interface Abilities {
  features: ReadonlySet<string>;
  /** All of it. */
  query: XmlElement;
}

/** Asks an address. Rejects as a request does. */
export async function discover(
  session: Pick<XmppSession, "request">,
  address: string,
  timeoutMs?: number,
): Promise<Abilities> {
  const question = xml("query", { xmlns: NS.discoInfo });
  const answer = await session.request("get", address, question, timeoutMs);
  const query = answer.getChild("query", NS.discoInfo) ?? question;
  const features = new Set(query.getChildren("feature").flatMap(({ attrs }) => attrs.var ?? []));
  return { features, query };
}

/** That the server has an archive of the account, and whether ids in messages are the server's alone. */
export async function accountFeatures(
  session: Pick<XmppSession, "request" | "bareJid">,
): Promise<{ hasArchive: boolean; keepsIds: boolean }> {
  const found = await discover(session, session.bareJid).catch((error) => {
    if (!(error instanceof StanzaError)) throw error;
  });
  const hasArchive = found?.features.has(NS.archive) === true;
  return { hasArchive, keepsIds: hasArchive || found?.features.has(NS.stanzaIds) === true };
}
