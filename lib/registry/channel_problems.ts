/**
 * What keeps channels from starting that are switched on, and what has no effect, for people who look at
 * a configuration. No runtime is loaded.
 *
 * @module
 */

import { channelSpecs } from "./channel_specs.ts";
import type { ConfiguredChannels } from "./worker_source_of.ts";
import { unknownChannelKeys } from "./unknown_channel_keys.ts";

/** One line each. */
export function channelProblems(configured: ConfiguredChannels): string[] {
  // Of nothing here is a fingerprint compared.
  const specs = channelSpecs({ ...configured, fingerprintKey: new Uint8Array(32) });
  return [
    ...specs.filter(({ enabled }) => enabled).flatMap(({ problem }) => problem ?? []),
    ...unknownChannelKeys(configured),
  ];
}
