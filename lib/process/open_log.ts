/**
 * The log of a home, which says no secret.
 *
 * @module
 */

import { KnownSecrets } from "../authority/known_secrets.ts";
import { plainNames } from "../authority/plain_names.ts";
import { createLog, type Log, openLogOutput } from "../base/log.ts";
import type { LogOutput } from "../base/log_output.ts";
import { rotatedLog } from "../base/rotated_log.ts";
import type { Config } from "../config/schema.ts";
import { neverSaid } from "./own_config.ts";
import type { OwnOptions } from "./own_home.ts";

/** A log, and what it must not say. */
export interface HomeLog {
  log: Log;
  output: LogOutput;
  known: KnownSecrets;
  /** Learns the secrets of a configuration, before any of it can be said. */
  learn(config: Config): void;
}

/** Opens it. */
export async function openLog(options: OwnOptions, config: Config): Promise<HomeLog> {
  const known = new KnownSecrets();
  const channelKeys = options.channels === undefined
    ? {}
    : (await import("../registry/channel_defaults.ts")).channelSecrets(options.channels);
  const learn = (next: Config) =>
    known.configure(neverSaid(next, options.env, channelKeys), plainNames(next));
  // Before the first line: a warning may repeat what stands in a section.
  learn(config);
  const { logFile: path, logTo = Deno.stderr } = options;
  const stream = path === undefined ? logTo : rotatedLog({ path, stream: Deno.stderr });
  const output = openLogOutput(config.log.format, stream);
  const log = createLog(
    { ...config.log, level: options.logLevel ?? config.log.level },
    (line) => output.write(known.scrubber.text(line)),
  );
  return { log, output, known, learn };
}
