/**
 * Places of channels in the process of a command, for what is asked of a channel once.
 *
 * @module
 */

import type { ChannelPlaces } from "../../lib/operations/channels/channel_places.ts";
import { openChannelPlaces } from "../../lib/operations/channels/open_channel_places.ts";
import { channelSecrets } from "../../lib/registry/channel_defaults.ts";
import type { ConfiguredChannels } from "../../lib/registry/place_source_of.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import { secretsIn } from "../../lib/config/redact.ts";
import { configSchema } from "../../lib/config/schema.ts";
import type { Log } from "../../lib/base/log.ts";
import { newSalt, printsOf } from "../../lib/secrets/prints_of.ts";
import { createScrubber } from "../../lib/secrets/scrubber.ts";
import { findOwnDenoDir } from "../../lib/packages/deno_dir.ts";

/** They say no secret of the configuration. Whoever opens them shuts them down. */
export function openOwnPlaces(
  { configured, paths, log }: { configured: ConfiguredChannels; paths: HomePaths; log: Log },
): ChannelPlaces {
  const env = (name: string) => Deno.env.get(name);
  const salt = newSalt();
  const secrets = secretsIn(configured.config, configSchema, channelSecrets(configured.registry));
  return openChannelPlaces({
    configured: () => configured,
    paths,
    denoDir: findOwnDenoDir(env),
    env,
    scrubber: createScrubber(secrets.flatMap((secret) => printsOf(secret, salt))),
    log,
  });
}
