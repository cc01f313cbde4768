/**
 * What we are and can do, for others who ask (XEP-0030, XEP-0115).
 *
 * @module
 */

import { NS } from "./namespaces.ts";
import { xml, type XmlElement } from "./xmpp_library.ts";

/** Other programs leave a bot in peace. */
const IDENTITY = { category: "client", type: "bot", name: "Service" } as const;

/** In their order by bytes, as their hash wants it. */
const FEATURES = [
  NS.caps,
  NS.chatStates,
  NS.discoInfo,
  NS.oob,
  NS.ping,
  NS.markers,
  NS.receipts,
  NS.replace,
  NS.reply,
  NS.retract,
].toSorted();

const NODE = "urn:x-service:xmpp";

export interface OwnAbilities {
  /** For presences. */
  caps: () => XmlElement;
  /** The answer to who asks. */
  info: (question: XmlElement) => XmlElement;
}

/** Works out the hash once. */
export async function ownAbilities(): Promise<OwnAbilities> {
  const { category, type, name } = IDENTITY;
  const text = `${category}/${type}//${name}<${FEATURES.map((one) => `${one}<`).join("")}`;
  const hash = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(text));
  const ver = new Uint8Array(hash).toBase64();
  return {
    caps: () => xml("c", { xmlns: NS.caps, hash: "sha-1", node: NODE, ver }),
    info: ({ attrs: { node } }) =>
      xml(
        "query",
        { xmlns: NS.discoInfo, node },
        xml("identity", { category, type, name }),
        ...FEATURES.map((one) => xml("feature", { var: one })),
      ),
  };
}
