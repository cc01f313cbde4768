/**
 * How channels are, for people and programs: `service channels status`, the settings page, `/ready`.
 *
 * @module
 */

import type { DeliveryCounts } from "./deliveries.ts";

/** How an instance is. `failed`: it cannot start as it is configured; `waiting`: to be started again. */
export type ChannelState = "off" | "starting" | "running" | "waiting" | "failed" | "stopping";

export interface ChannelStatus {
  runtimeName: string;
  channel: string;
  instanceId?: string;
  displayName: string;
  state: ChannelState;
  /** What it says of itself, such as `connected as @mybot`. */
  detail?: string;
  /** What went wrong last, and what to do. */
  problem?: string;
  /** Milliseconds since 1970 at which it came into this state. */
  since: number;
  /** How often it was started again since it was enabled. */
  restarts: number;
  deliveries: DeliveryCounts;
  /** Messages that came too late to be answered and are listed: `service channels missed`. */
  missed?: number;
}
