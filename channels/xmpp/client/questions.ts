/**
 * Questions that wait for their answers (RFC 6120, 8.2.3).
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { StanzaError } from "./stanza_error.ts";
import { xml, type XmlElement } from "./xmpp_library.ts";

/** What they work with. */
export interface QuestionsDeps {
  post: (stanza: XmlElement) => void;
  /** Addresses that the server answers from where nobody else was asked. */
  isServer: (from: string) => boolean;
  clock: Pick<Clock, "after">;
}

interface Asked {
  to: string | undefined;
  resolve: (answer: XmlElement) => void;
  reject: (error: Error) => void;
}

export class Questions {
  readonly #deps: QuestionsDeps;
  readonly #asked = new Map<string, Asked>();

  constructor(deps: QuestionsDeps) {
    this.#deps = deps;
  }

  /** Asks, and resolves with the answer. Rejects with a StanzaError, or where none comes. */
  async ask(
    type: "get" | "set",
    to: string | undefined,
    child: XmlElement,
    timeoutMs: number,
  ): Promise<XmlElement> {
    // Nobody else can know it, and answer.
    const id = crypto.randomUUID();
    const { promise, resolve, reject } = Promise.withResolvers<XmlElement>();
    const cancel = this.#deps.clock.after(
      timeoutMs,
      () => reject(new Error(`${to ?? "the server"} has not answered`)),
    );
    this.#asked.set(id, { to, resolve, reject });
    try {
      this.#deps.post(xml("iq", { type, id, to }, child));
      return await promise;
    } finally {
      cancel();
      this.#asked.delete(id);
    }
  }

  /** Takes an answer, of whom was asked alone. */
  take(stanza: XmlElement): void {
    const { id = "", type, from } = stanza.attrs;
    const asked = this.#asked.get(id);
    if (asked === undefined || (type !== "result" && type !== "error")) return;
    const isOfServer = from === undefined || this.#deps.isServer(from);
    if (asked.to === undefined ? !isOfServer : from !== undefined && from !== asked.to) return;
    if (type === "error") asked.reject(StanzaError.of(stanza));
    else asked.resolve(stanza);
  }

  /** No answer comes any more. */
  end(error: Error): void {
    for (const { reject } of this.#asked.values()) reject(error);
  }
}
