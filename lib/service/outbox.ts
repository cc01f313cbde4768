/**
 * The service's side of messages for chats on other channels: they are put on record, and whoever
 * sends them is told whether a channel is there that delivers them (decisions D4, D6).
 *
 * @module
 */

import type { Journal } from "../journal/types.ts";
import type { OutboxPort } from "./bridge.ts";

/** What the outbox works with. */
export interface OutboxDeps {
  journal: Pick<Journal, "enqueue">;
  /** Whether a channel, or an instance, of this name runs. */
  isEnabled: (channel: string) => boolean;
}

/** Makes the outbox. Its promises reject with what the journal rejects with, `overloaded` too. */
export function createOutbox({ journal, isEnabled }: OutboxDeps): OutboxPort {
  return {
    async enqueue(message) {
      const added = await journal.enqueue(message);
      return { repeated: !added, channelEnabled: isEnabled(message.channel) };
    },
  };
}
