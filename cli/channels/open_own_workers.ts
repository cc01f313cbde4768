/**
 * Workers of channels in the process of a command, for what is asked of a channel once.
 *
 * @module
 */

import type { ChannelWorkers } from "../../lib/operations/channels/channel_workers.ts";
import { openChannelWorkers } from "../../lib/operations/channels/open_channel_workers.ts";
import { channelSecrets } from "../../lib/registry/channel_defaults.ts";
import type { ConfiguredChannels } from "../../lib/registry/worker_source_of.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import { secretsIn } from "../../lib/config/redact.ts";
import { configSchema } from "../../lib/config/schema.ts";
import type { Log } from "../../lib/base/log.ts";
import { fingerprintsOf, newSalt } from "../../lib/secrets/fingerprints_of.ts";
import { createScrubber } from "../../lib/secrets/scrubber.ts";
import { readState } from "../operator/with_state.ts";
import { findOwnDenoDir } from "../../lib/packages/deno_dir.ts";

/** They say no secret of the configuration. Whoever opens them shuts them down. */
export function openOwnWorkers(
  { configured, paths, log }: { configured: ConfiguredChannels; paths: HomePaths; log: Log },
): ChannelWorkers {
  const env = (name: string) => Deno.env.get(name);
  const salt = newSalt();
  const secrets = secretsIn(configured.config, configSchema, channelSecrets(configured.registry));
  return openChannelWorkers({
    configured: () => configured,
    paths,
    denoDir: findOwnDenoDir(env),
    stateKey: (name) =>
      readState({ paths, env }, ({ secrets }) => secrets.deriveKey(`channel ${name}`)),
    env,
    scrubber: createScrubber(secrets.flatMap((secret) => fingerprintsOf(secret, salt))),
    log,
  });
}
