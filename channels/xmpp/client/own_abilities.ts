/**
 * What we are and can do, for others who ask (XEP-0030, XEP-0115).
 *
 * @module
 */

import { createHash } from "node:crypto";
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

/** For presences: a hash by which others know what we can do. */
export function ownCaps(): XmlElement {
  const { category, type, name } = IDENTITY;
  const text = `${category}/${type}//${name}<${FEATURES.map((one) => `${one}<`).join("")}`;
  const ver = createHash("sha1").update(text).digest("base64");
  return xml("c", { xmlns: NS.caps, hash: "sha-1", node: NODE, ver });
}

/** The answer to who asks. */
export function ownInfo({ attrs: { node } }: XmlElement): XmlElement {
  return xml(
    "query",
    { xmlns: NS.discoInfo, node },
    xml("identity", IDENTITY),
    ...FEATURES.map((one) => xml("feature", { var: one })),
  );
}
