/**
 * Messages from channels on their way to turns.
 *
 * @module
 */

import type { ChannelSpec } from "../../channel/channel_spec.ts";
import type { InboundMessage, Published } from "../../channel/inbound_message.ts";

/**
 * Accepts a message of an instance: resolves when its turn is on the disk, or its command is answered.
 * Waits while its session has too much to do; rejects with a ServiceError for what can never be accepted.
 */
export type Inbound = (
  spec: Pick<ChannelSpec, "runtimeName" | "channel" | "senderVerified">,
  message: InboundMessage,
  signal: AbortSignal,
) => Promise<Published>;
