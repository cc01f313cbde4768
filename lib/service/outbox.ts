/**
 * The service's side of messages for chats on other channels: they are put on record, and whoever
 * sends them is told whether a channel is there that delivers them (decisions D4, D6).
 *
 * @module
 */

import type { Journal, OutboxMessage } from "../journal/types.ts";
import type { Enqueued } from "./bridge.ts";

/** What the outbox works with. */
export interface OutboxDeps {
  journal: Pick<Journal, "enqueue">;
  /** Whether a channel, or an instance, of this name runs. */
  isEnabled: (channel: string) => boolean;
}

/** The outbox. Its promises reject with what the journal rejects with, `overloaded` too. */
export interface Outbox {
  enqueue(message: OutboxMessage): Promise<Enqueued>;
}

/** Makes the outbox. */
export function createOutbox({ journal, isEnabled }: OutboxDeps): Outbox {
  return {
    async enqueue(message) {
      const added = await journal.enqueue(message);
      return { repeated: !added, channelEnabled: isEnabled(message.channel) };
    },
  };
}
