/**
 * An instance of a channel as the authority tells the service of it: plain data without a secret.
 *
 * @module
 */

import type { ChannelCapability } from "./descriptor.ts";
import type { ChannelFlags } from "./with_channel_flags.ts";

export interface ChannelSpec {
  /** The channel's name, or `<channel>.<instance>`; no other spec has it. */
  runtimeName: string;
  channel: string;
  /** Absent for a channel that has one instance. */
  instanceId?: string;
  displayName: string;
  enabled: boolean;
  capabilities: readonly ChannelCapability[];
  senderVerified: boolean;
  flags: ChannelFlags;
  /** Attempts in all to deliver a message, at least 1. */
  sendMaxRetries: number;
  /** Seconds after which a message that comes in is listed and not answered. */
  catchUpS: number;
  /** Of everything that it runs with; another one means that it has to be replaced. */
  fingerprint: string;
  /** Why it cannot start, and what to do, for people. */
  problem?: string;
}

/** Where the runtime of a channel is. */
export interface ChannelModule {
  name: string;
  /** URL of the module; from the static map of channels alone. */
  module: string;
  /** The class that it exports. */
  className: string;
}
