/**
 * Messages from channels on their way to turns.
 *
 * @module
 */

import type { ChannelSpec } from "../../../channel/channel_spec.ts";
import type { InboundMessage, Published } from "../../../contract/inbound_message.ts";

/** What is known of the instance that a message comes from. */
export type InboundSpec =
  & Pick<ChannelSpec, "runtimeName" | "channel" | "senderVerified">
  /** Without it no message is too late. */
  & Partial<Pick<ChannelSpec, "catchUpS">>;

/**
 * Accepts a message of an instance, which was checked where it came in: resolves when its turn is on the disk, its command is answered, or it
 * is listed as one that came too late.
 * Waits while its session has too much to do; rejects with a ServiceError for what can never be accepted.
 */
export type Inbound = (
  spec: InboundSpec,
  message: InboundMessage,
  signal: AbortSignal,
) => Promise<Published>;
