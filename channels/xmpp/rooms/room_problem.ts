/**
 * Why a room does not take us, or has sent us away, in words (XEP-0045, 7.2, 8.2, 9.1, 10.9).
 *
 * @module
 */

import { NS } from "../client/namespaces.ts";
import { oneLine } from "../client/one_line.ts";
import type { StanzaError } from "../client/stanza_error.ts";
import type { XmlElement } from "../client/xmpp_library.ts";

const PROBLEMS: Readonly<Record<string, string>> = {
  "conflict": "its nicks are in use",
  "forbidden": "we are banned",
  "item-not-found": "there is no such room",
  "not-acceptable": "our nick is not taken there",
  "not-allowed": "nobody may make rooms there",
  "not-authorized": "its password is missing or wrong",
  "registration-required": "it is for members only",
  "service-unavailable": "it is full",
};

/** Why we cannot go in. */
export function joinProblem(error: StanzaError): string {
  return PROBLEMS[error.condition] ?? error.message;
}

/** How we have come out of a room; `isFinal`: we do not go there again by ourselves. */
export function exitReason(
  user: XmlElement | undefined,
  codes: ReadonlySet<string | undefined>,
): { words: string; isFinal: boolean } {
  const destroyed = user?.getChild("destroy");
  const said = (destroyed ?? user?.getChild("item"))?.getChild("reason", NS.mucUser)?.text();
  const reason = oneLine(said ?? "", 80);
  const with_ = (text: string) => reason === "" ? text : `${text}: ${reason}`;
  if (destroyed !== undefined) return { words: with_("it was destroyed"), isFinal: true };
  if (codes.has("301")) return { words: with_("we were banned"), isFinal: true };
  // A connection of the room that broke looks like a kick (XEP-0045, 9.3).
  if (codes.has("307") && !codes.has("333")) {
    return { words: with_("we were kicked"), isFinal: false };
  }
  if (codes.has("321") || codes.has("322")) {
    return { words: with_("it is for members only now"), isFinal: false };
  }
  if (codes.has("332")) return { words: "its service is shutting down", isFinal: false };
  return { words: with_("we have fallen out of it"), isFinal: false };
}
