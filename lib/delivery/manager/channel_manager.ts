/**
 * Keeps channels running as they are configured: starts, watches over, replaces and stops them.
 *
 * @module
 */

import type { ChannelSpec } from "../../channel/channel_spec.ts";
import type { ChannelStatus } from "../../channel/channel_status.ts";
import type { Verification, VerifyAction } from "../../channel/verification.ts";

export interface ChannelManager {
  /**
   * Brings what runs in line with these: the first call is the start. A changed instance is built anew
   * before the old one stops; one that cannot be built leaves the old one at work.
   */
  configure(specs: readonly ChannelSpec[]): void;
  /** In the order of the specs; those that are switched off too. */
  status(): ChannelStatus[];
  /** As `BaseChannel.verify`, of the one that runs; undefined where none does. */
  verify(runtimeName: string, action: VerifyAction): Promise<Verification> | undefined;
  /** Stops all of them. What waits to be delivered goes on waiting on the disk. */
  stop(graceMs: number): Promise<void>;
}
