/**
 * What goes out to channels: answers of turns and messages of the outbox, each chat in its order, until
 * they are delivered, dead or expired.
 *
 * @module
 */

import type { ChannelLink } from "./channel_link.ts";
import type { ChannelSpec } from "./channel_spec.ts";

/** What is on its way to one runtime. */
export interface DeliveryCounts {
  /** Messages and open streams that wait or are being sent. */
  waiting: number;
  /** Of those, the ones that have failed and are tried again. */
  retrying: number;
  /** Messages and whole streams, since the start of the service. */
  sent: number;
  /** On record, until somebody decides about them: `service outbox`. */
  unknown: number;
  dead: number;
}

export interface Deliveries {
  /**
   * Sends what waits for this runtime, and what comes, over this link, until the returned function is
   * called: that resolves when nothing is being sent over it any more. One link for a runtime name at
   * once.
   */
  attach(
    link: ChannelLink,
    spec: Pick<ChannelSpec, "capabilities" | "flags" | "sendMaxRetries">,
  ): () => Promise<void>;
  /** A turn was accepted whose answer goes to a chat of a channel; the journal knows which. */
  follow(turnId: string): void;
  /**
   * A message was put into the outbox for a chat of this runtime name; without a chat: its link may
   * run again. Costs nothing when there is no link.
   */
  wake(runtimeName: string, chatId?: string): void;
  counts(runtimeName: string): DeliveryCounts;
  /** Ends at once what waits; what is being sent gets `graceMs`. */
  stop(graceMs: number): Promise<void>;
}
