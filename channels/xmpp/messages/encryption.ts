/**
 * Messages that only programs with the right keys can read.
 *
 * @module
 */

import { NS } from "../client/namespaces.ts";
import type { XmlElement } from "../client/xmpp_library.ts";

/** OMEMO, as it was and as it is (XEP-0384). */
const OMEMO: readonly string[] = ["eu.siacs.conversations.axolotl", "urn:xmpp:omemo:2"];

/** OpenPGP, as it was and as it is (XEP-0027, XEP-0373). */
const OPENPGP: readonly (readonly [string, string])[] = [
  ["x", "jabber:x:encrypted"],
  ["openpgp", "urn:xmpp:openpgp:0"],
];

/** `text`: something is said; `key`: programs exchange keys; undefined: it is not encrypted. */
export function encryptionOf(message: XmlElement): "text" | "key" | undefined {
  for (const child of message.getChildElements()) {
    if (child.name === "encrypted" && OMEMO.includes(child.getNS() ?? "")) {
      return child.getChildElements().some(({ name }) => name === "payload") ? "text" : "key";
    }
  }
  const isPgp = OPENPGP.some(([name, xmlns]) => message.getChild(name, xmlns) !== undefined);
  const isNamed = message.getChild("encryption", NS.encryption) !== undefined;
  const isOtr = /^\?OTR(?::|[v\d]*\?)/.test(message.getChildText("body") ?? "");
  return isPgp || isNamed || isOtr ? "text" : undefined;
}
