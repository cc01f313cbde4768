/**
 * Messages on their way to the server, until it has them.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { UncertainDeliveryError } from "../../../lib/channel/delivery_error.ts";
import { bareJid } from "./jid.ts";
import { StanzaError } from "./stanza_error.ts";
import type { StreamAcks } from "./stream_acks.ts";
import type { XmlElement } from "./xmpp_library.ts";

/** What they work with. */
export interface DeliveriesDeps {
  post: (stanza: XmlElement) => void;
  acks: StreamAcks;
  /** Asks the server for a sign of life. */
  ping: () => Promise<unknown>;
  clock: Pick<Clock, "after">;
}

const TIMEOUT_MS = 60_000;

export class Deliveries {
  readonly #deps: DeliveriesDeps;
  readonly #open = new Map<string, { to: string; reject: (error: Error) => void }>();

  constructor(deps: DeliveriesDeps) {
    this.#deps = deps;
  }

  /**
   * Sends a message, which has an id, and resolves when the server has it. Rejects with the StanzaError of
   * who does not take it, and with an UncertainDeliveryError where nobody says so.
   */
  async send(message: XmlElement): Promise<void> {
    const id = message.attrs.id!;
    const refused = Promise.withResolvers<never>();
    refused.promise.catch(() => {});
    this.#open.set(id, { to: message.attrs.to ?? "", reject: refused.reject });
    const cancel = this.#deps.clock.after(TIMEOUT_MS, () => refused.reject(unsaid()));
    try {
      await Promise.race([this.#taken(message), refused.promise]);
    } finally {
      cancel();
      this.#open.delete(id);
    }
  }

  /** Takes an error that somebody has answered a message with. */
  takeRefusal(stanza: XmlElement): void {
    const { id = "", from = "" } = stanza.attrs;
    const open = this.#open.get(id);
    if (open === undefined || bareJid(from) !== bareJid(open.to)) return;
    open.reject(StanzaError.of(stanza));
  }

  /** Nobody says any more what became of them. */
  end({ message }: Error): void {
    for (const { reject } of this.#open.values()) {
      reject(
        new UncertainDeliveryError(`The connection ended before the server had it: ${message}`),
      );
    }
  }

  async #taken(message: XmlElement): Promise<void> {
    const { post, acks, ping } = this.#deps;
    post(message);
    if (acks.isOn) {
      const number = acks.lastSent;
      acks.ask();
      return await acks.taken(number);
    }
    // A server takes stanzas in their order (RFC 6120, 10.1): one that answers this has had that.
    await ping().catch((error) => {
      if (!(error instanceof StanzaError)) throw unsaid();
    });
  }
}

function unsaid(): Error {
  return new UncertainDeliveryError("The server has not said that it has it");
}
