/**
 * A registry over descriptors, for tests; nothing is loaded.
 *
 * @module
 */

import type { ChannelDescriptor } from "../../channel/descriptor.ts";
import type { ManagementAdapter } from "../../channel/management.ts";
import type { BrokenChannel, ChannelRegistry, UsableChannel } from "../channel_registry.ts";

/** A channel whose runtime is at `test:/<name>/runtime.ts`. */
export function testChannel(
  descriptor: ChannelDescriptor,
  adapter?: ManagementAdapter,
): UsableChannel {
  const { name } = descriptor;
  return {
    folder: name,
    descriptor,
    ...adapter && { adapter },
    runtime: { module: `test:/${name}/runtime.ts`, exportName: "Runtime" },
  };
}

/** Such channels, and broken ones. */
export function testRegistry(
  channels: readonly UsableChannel[],
  broken: readonly BrokenChannel[] = [],
): ChannelRegistry {
  return { usable: new Map(channels.map((each) => [each.descriptor.name, each])), broken };
}
