/**
 * How a channel with several instances is told apart. Adapters are
 * plain functions over a section of the configuration: they load nothing and reach nothing.
 *
 * @module
 */

import type { FeatureMetadata } from "./base_channel.ts";

/** A section of the configuration as it is written, keys in camelCase. */
export type Section = Readonly<Record<string, unknown>>;

/** One instance: its id and its own configuration, and nothing else (invariant 6). */
export interface ChannelInstanceSpec {
  instanceId: string;
  config: Section;
}

/** A presentation override; it never says how the instance is (invariant 5). */
export interface FeatureInstance extends FeatureMetadata {
  id: string;
}

/** What `setup.management.adapter` names. Each throws for stored data that is malformed (part 7, 3). */
export interface ManagementAdapter {
  instanceSpecs(section: Section, enabledOnly?: boolean): ChannelInstanceSpec[];
  /**
   * The section with new values for one instance; the siblings are the very same values.
   * `values` are of the contract's fields, and `enabled`; null takes one out, and one that is absent stays.
   */
  updateInstanceConfig(section: Section, values: Section, instanceId: string): Section;
  defaultConfig?(): Record<string, unknown>;
  /**
   * The one source of routing names: the channel's name, or one that begins with `<name>.`. Absent:
   * `default` is called like the channel, any other `<name>.<id>`.
   */
  runtimeName?(channelName: string, instanceId: string): string;
  featureInstances?(section: Section): FeatureInstance[] | undefined;
  /** Whether a login is kept on this machine, by the names of what lies in the instance's own folder. */
  localStatePresent?(section: Section, instanceId: string, files: readonly string[]): boolean;
}
