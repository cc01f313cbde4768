/**
 * Logs an instance of a channel in, in a Worker with the permissions of that channel alone.
 *
 * @module
 */

import { openChannelPlaces } from "../../lib/authority/channels/open_channel_places.ts";
import type { PlaceSource } from "../../lib/channel/place/place_source.ts";
import { channelSecrets } from "../../lib/channel/registry/channel_defaults.ts";
import type { ConfiguredChannels } from "../../lib/channel/registry/place_source_of.ts";
import { secretsIn } from "../../lib/config/redact.ts";
import { configSchema } from "../../lib/config/schema.ts";
import { newSalt, printsOf } from "../../lib/secrets/prints_of.ts";
import { createScrubber } from "../../lib/secrets/scrubber.ts";
import type { Globals } from "../command.ts";
import { homePaths } from "../home_paths.ts";
import type { Output } from "../output.ts";
import { findOwnDenoDir } from "./find_own_deno_dir.ts";
import { noteLog } from "./note_log.ts";

/** Whether it is logged in then. What the channel says meanwhile goes to standard error. */
export async function loginInPlace(
  { configured, source, force }: {
    configured: ConfiguredChannels;
    source: PlaceSource;
    force: boolean;
  },
  globals: Globals,
  out: Output,
): Promise<boolean> {
  const env = (name: string) => Deno.env.get(name);
  const salt = newSalt();
  const secrets = secretsIn(configured.config, configSchema, channelSecrets(configured.registry));
  const places = openChannelPlaces({
    configured: () => configured,
    paths: homePaths(globals),
    denoDir: findOwnDenoDir(env),
    env,
    scrubber: createScrubber(secrets.flatMap((secret) => printsOf(secret, salt))),
    log: noteLog(out),
  });
  try {
    return await places.login(source, force);
  } finally {
    await places.shutdown();
  }
}
