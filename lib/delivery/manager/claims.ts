/**
 * Which instance has a runtime name, where more than one claims it.
 *
 * @module
 */

import type { ChannelSpec } from "../../channel/channel_spec.ts";

/**
 * The specs that have their runtime name to themselves: of those with one name that which has it
 * already, else the first that is enabled, else the first. `holder` is the instance that has a name now.
 */
export function claimants(
  specs: readonly ChannelSpec[],
  holder: (runtimeName: string) => ChannelSpec | undefined,
): Set<ChannelSpec> {
  const byName = Map.groupBy(specs, ({ runtimeName }) => runtimeName);
  const chosen = new Set<ChannelSpec>();
  for (const [runtimeName, claims] of byName) {
    const held = holder(runtimeName);
    chosen.add(
      claims.find((spec) => spec.enabled && held !== undefined && isSame(spec, held)) ??
        claims.find(({ enabled }) => enabled) ?? claims[0]!,
    );
  }
  return chosen;
}

function isSame(one: ChannelSpec, other: ChannelSpec): boolean {
  return one.channel === other.channel && one.instanceId === other.instanceId;
}
