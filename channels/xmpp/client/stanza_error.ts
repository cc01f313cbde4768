/**
 * An error that somebody answers a stanza with (RFC 6120, 8.3).
 *
 * @module
 */

import { PermanentDeliveryError, RetryLaterError } from "../../../lib/channel/delivery_error.ts";
import { NS } from "./namespaces.ts";
import { oneLine } from "./one_line.ts";
import type { XmlElement } from "./xmpp_library.ts";

const MAX_TEXT_CHARS = 200;

/** How long is waited where a server says that it is too much, milliseconds. */
const TOO_MUCH_MS = 15_000;

export class StanzaError extends Error {
  override readonly name = "StanzaError";
  /** Such as `item-not-found`. */
  readonly condition: string;
  /** `auth`, `cancel`, `continue`, `modify` or `wait`. */
  readonly kind: string;

  constructor(condition: string, kind: string, text: string) {
    super(text === "" ? condition : `${condition}: ${text}`);
    this.condition = condition;
    this.kind = kind;
  }

  /** Of a stanza of type `error`. */
  static of(stanza: XmlElement): StanzaError {
    const error = stanza.getChild("error");
    const elements = error?.getChildElements().filter((one) => one.getNS() === NS.stanzaErrors);
    const condition = elements?.find(({ name }) => name !== "text")?.name ?? "undefined-condition";
    const text = elements?.find(({ name }) => name === "text")?.text() ?? "";
    const words = oneLine(text, MAX_TEXT_CHARS);
    return new StanzaError(condition.slice(0, 60), error?.attrs.type ?? "cancel", words);
  }
}

/** As the service wants it told: what a repeat cannot mend, when to come again, or as it is. */
export function deliveryErrorOf(error: StanzaError, chatId: string): Error {
  const message = `${chatId} does not take it: ${error.message}`;
  if (error.condition === "resource-constraint" || error.condition === "policy-violation") {
    if (error.kind === "wait") return new RetryLaterError(message, TOO_MUCH_MS);
  }
  // We have fallen out of a room that we take ourselves to be in, and go there again.
  if (error.condition === "not-acceptable" || error.kind === "wait") {
    return new Error(message, { cause: error });
  }
  return new PermanentDeliveryError(message, { cause: error });
}
