/**
 * What the server keeps for the account.
 *
 * @module
 */

import { NS } from "./namespaces.ts";
import { StanzaError } from "./stanza_error.ts";
import { xml } from "./xmpp_library.ts";
import type { XmppSession } from "./xmpp_session.ts";

/** That the server has an archive of the account, and whose ids count there. */
export async function accountFeatures(
  session: Pick<XmppSession, "request" | "bareJid">,
): Promise<{ hasArchive: boolean; keepsIds: boolean }> {
  const query = xml("query", { xmlns: NS.discoInfo });
  try {
    const answer = await session.request("get", session.bareJid, query);
    const features = new Set(
      answer.getChild("query", NS.discoInfo)?.getChildren("feature").map(({ attrs }) => attrs.var),
    );
    const hasArchive = features.has(NS.archive);
    return { hasArchive, keepsIds: hasArchive || features.has(NS.stanzaIds) };
  } catch (error) {
    if (!(error instanceof StanzaError)) throw error;
    return { hasArchive: false, keepsIds: false };
  }
}
