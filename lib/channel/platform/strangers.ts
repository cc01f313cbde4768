/**
 * People who write and are not in `allowFrom`. Nothing of theirs is kept; who they are is logged, once
 * each, so that whoever sets the channel up finds the id that belongs into the list.
 *
 * @module
 */

import type { Log } from "../../base/log.ts";

/** Of more the log says nothing. */
const MAX_NAMED = 100;

export class Strangers {
  readonly #log: Pick<Log, "info">;
  readonly #named = new Set<string>();

  constructor(log: Pick<Log, "info">) {
    this.#log = log;
  }

  met(senderId: string, senderName?: string): void {
    if (this.#named.has(senderId) || this.#named.size >= MAX_NAMED) return;
    this.#named.add(senderId);
    this.#log.info("Somebody who is not in allowFrom has written", {
      senderId,
      ...senderName !== undefined && { senderName },
    });
  }
}
