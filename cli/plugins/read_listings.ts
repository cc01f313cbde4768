/**
 * Channels as the configuration has them, whether a service runs or not.
 *
 * @module
 */

import type { ChannelListing } from "../../lib/operations/channels/channel_listing.ts";
import { requireKnown } from "../../lib/operations/channels/find_channel.ts";
import { listChannels } from "../../lib/operations/channels/list_channels.ts";
import { channelSecrets } from "../../lib/registry/channel_defaults.ts";
import type { ChannelRegistry } from "../../lib/registry/channel_registry.ts";
import { examine } from "../../lib/settings/examine.ts";
import { readConfig } from "../../lib/settings/load.ts";
import { formatProblem } from "../../lib/config/problem.ts";
import { secretsIn } from "../../lib/config/redact.ts";
import { configSchema } from "../../lib/config/schema.ts";
import { fingerprintsOf, newSalt } from "../../lib/secrets/fingerprints_of.ts";
import { createScrubber } from "../../lib/secrets/scrubber.ts";
import type { PluginsDeps } from "./deps.ts";

/** Channels, and what is wrong with the file, a line each. */
export interface Listings {
  registry: ChannelRegistry;
  listings: ChannelListing[];
  /** Whether the gateway serves the HTTP API. */
  api: boolean;
  problems: string[];
}

/** Every channel, the broken ones with why; no value of a secret stands in what a package says. */
export async function readListings(
  { paths, env, channels }: Pick<PluginsDeps, "paths" | "env" | "channels">,
): Promise<Listings> {
  const [registry, { text }] = await Promise.all([channels(), readConfig({ paths })]);
  const examined = examine({ text, paths, env });
  const salt = newSalt();
  const secrets = secretsIn(examined.config ?? {}, configSchema, channelSecrets(registry));
  const scrubber = createScrubber(secrets.flatMap((secret) => fingerprintsOf(secret, salt)));
  return {
    registry,
    listings: scrubber.value(
      listChannels({ registry, examined, features: {}, dataDir: paths.dataDir }),
    ),
    api: examined.config?.api.enabled === true,
    problems: examined.problems.map(formatProblem),
  };
}

/** One channel. Throws `not_found`, naming those that there are. */
export function listingOf({ registry, listings }: Listings, name: string): ChannelListing {
  const found = listings.find((each) => each.name === name);
  if (found === undefined) requireKnown(registry, name, []);
  return found!;
}
