/**
 * The channels that there are, each judged for itself: one that is broken hurts no other.
 *
 * @module
 */

import type { LocaleLoader } from "../channel/channel_package.ts";
import type { ChannelDescriptor } from "../channel/descriptor.ts";
import type { ManagementAdapter } from "../channel/management.ts";

/** A channel that can be used, by its manifest at least. */
export interface UsableChannel {
  folder: string;
  descriptor: ChannelDescriptor;
  /** Of `management.adapter`; absent: one instance. */
  adapter?: ManagementAdapter;
  /** URL and export of the runtime. */
  runtime: WorkerTarget;
  /** Of a `Connector`. */
  connector?: WorkerTarget;
  /** Its languages beside English, to be loaded when somebody asks for one. */
  locales?: Readonly<Record<string, LocaleLoader>>;
  /** Of a `SetupValidator`. */
  validator?: WorkerTarget;
}

/** What a worker loads. */
export interface WorkerTarget {
  module: string;
  exportName: string;
}

/** A channel that cannot be used, and why, in words that say what to change. */
export interface BrokenChannel {
  folder: string;
  problem: string;
}

export interface ChannelRegistry {
  /** By name. */
  readonly usable: ReadonlyMap<string, UsableChannel>;
  readonly broken: readonly BrokenChannel[];
}
