/**
 * Channels as the configuration has them, whether a service runs or not.
 *
 * @module
 */

import type { ChannelListing } from "../../lib/authority/channels/channel_request.ts";
import { requireKnown } from "../../lib/authority/channels/find_channel.ts";
import { listChannels } from "../../lib/authority/channels/list_channels.ts";
import type { ChannelRegistry } from "../../lib/channel/registry/channel_registry.ts";
import { examine } from "../../lib/config/examine.ts";
import { readConfig } from "../../lib/config/load.ts";
import { formatProblem } from "../../lib/config/problem.ts";
import type { PluginsDeps } from "./deps.ts";

/** Channels, and what is wrong with the file, a line each. */
export interface Listings {
  registry: ChannelRegistry;
  listings: ChannelListing[];
  problems: string[];
}

/** Every channel, the broken ones with why. */
export async function readListings(
  { paths, env, channels }: Pick<PluginsDeps, "paths" | "env" | "channels">,
): Promise<Listings> {
  const [registry, { text }] = await Promise.all([channels(), readConfig({ paths })]);
  const examined = examine({ text, paths, env });
  return {
    registry,
    listings: listChannels({ registry, examined, features: {} }),
    problems: examined.problems.map(formatProblem),
  };
}

/** One channel. Throws `not_found`, naming those that there are. */
export function listingOf({ registry, listings }: Listings, name: string): ChannelListing {
  const found = listings.find((each) => each.name === name);
  if (found === undefined) requireKnown(registry, name, []);
  return found!;
}
