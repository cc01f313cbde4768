/**
 * Which connections are those of programs that write by themselves.
 *
 * @module
 */

import { discover } from "../client/discover.ts";
import type { XmppSession } from "../client/xmpp_session.ts";

/** Who is no longer there does not answer. */
const ASK_TIMEOUT_MS = 3_000;

const MAX_KNOWN = 2_000;

/** One for a connection. */
export class Bots {
  readonly #session: Pick<XmppSession, "request">;
  readonly #known = new Map<string, Promise<boolean>>();

  constructor(session: Pick<XmppSession, "request">) {
    this.#session = session;
  }

  /** Whether the program behind an address says that it is a bot; asked once. Never rejects. */
  has(address: string): Promise<boolean> {
    const known = this.#known.get(address);
    if (known !== undefined) return known;
    const asked = discover(this.#session, address, ASK_TIMEOUT_MS).then(
      ({ query }) =>
        query.getChildren("identity").some(({ attrs: { category, type } }) =>
          category === "client" && type === "bot"
        ),
      () => false,
    );
    this.#known.set(address, asked);
    if (this.#known.size > MAX_KNOWN) this.#known.delete(this.#known.keys().next().value!);
    return asked;
  }

  /** The connection with that address has ended; another program may have it next. */
  forget(address: string): void {
    this.#known.delete(address);
  }
}
