/**
 * Notices that somebody else writes with the account: another program with the same access token, or
 * another session. Two programs that poll one account answer everything twice.
 *
 * @module
 */

import type { MatrixEvent } from "../sync/sync_answer.ts";

/** Events that are remembered as our own. */
const MAX_OWN = 5_000;
const MAX_SUSPECTS = 100;

export class ForeignWriters {
  readonly #own = new Set<string>();
  /** Ids of requests: one that was cut off may have made an event all the same. */
  readonly #asked = new Set<string>();
  #suspects: MatrixEvent[] = [];
  #sending = 0;

  /** Runs a request that makes an event of ours. */
  async sending(txnId: string, request: () => Promise<string>): Promise<string> {
    this.#sending += 1;
    keep(this.#asked, txnId);
    try {
      const eventId = await request();
      keep(this.#own, eventId);
      return eventId;
    } finally {
      this.#sending -= 1;
    }
  }

  /** Whether an event was sent by this process. */
  isOwn(eventId: string): boolean {
    return this.#own.has(eventId);
  }

  /** An event of the account has come: one of ours may come before the answer to its request. */
  saw(event: MatrixEvent): void {
    if (this.#suspects.length < MAX_SUSPECTS) this.#suspects.push(event);
  }

  /** Who writes, in words; undefined as long as nobody else was seen. To be asked again and again. */
  judge(): string | undefined {
    if (this.#sending > 0) return undefined;
    const strange = this.#suspects.filter(({ eventId, unsigned }) =>
      !this.#own.has(eventId) && !this.#asked.has(String(unsigned.transaction_id))
    );
    this.#suspects = [];
    if (strange.length === 0) return undefined;
    // The server says it to the session alone that has sent the event.
    const isSameSession = strange.some(({ unsigned }) => unsigned.transaction_id !== undefined);
    return isSameSession
      ? "another program writes with the same session: stop it, or give each its own access token"
      : "somebody else writes as the bot from another session";
  }
}

function keep(set: Set<string>, id: string): void {
  set.add(id);
  if (set.size > MAX_OWN) set.delete(set.values().next().value!);
}
