/**
 * The log of a home, which says no secret.
 *
 * @module
 */

import { dirname } from "@std/path";
import { KnownSecrets } from "../authority/known_secrets.ts";
import { plainNames } from "../authority/plain_names.ts";
import { ServiceError } from "../base/errors.ts";
import { createLog, type Log, openLogOutput } from "../base/log.ts";
import type { LogOutputOptions } from "../base/log_output.ts";
import { RecentLines } from "../base/recent_lines.ts";
import { rotatedLog } from "../base/rotated_log.ts";
import type { Config } from "../config/schema.ts";
import { neverSaid } from "./own_config.ts";
import type { HomeOptions } from "./own_home.ts";

/** How long the last lines may take to be written. */
const LOG_FLUSH_MS = 500;

/** Says that somebody reads the newest lines, which must not be news to them. */
const READING = /^\S+Z GET \/api\/webui\/logs 200 |,"path":"\/api\/webui\/logs","status":200,/;

const MIB = 1024 * 1024;
const DAY_MS = 86_400_000;

/** A log, and what it must not say. */
export interface HomeLog {
  log: Log;
  /** Waits, for a bounded time, until it is written. */
  flush(): Promise<void>;
  /** The file that it goes to, if it is one. */
  file?: string;
  /** Takes lines of other processes. */
  logLine: (line: string) => void;
  /** Its newest lines, of a service that stays. */
  recentLines?: RecentLines;
  known: KnownSecrets;
  /** Learns the secrets of a configuration, before any of it can be said. */
  learn(config: Config): void;
}

/** Opens it. */
export async function openLog(options: HomeOptions, config: Config): Promise<HomeLog> {
  const known = new KnownSecrets();
  const channelKeys = options.channels === undefined
    ? {}
    : (await import("../registry/channel_defaults.ts")).channelSecrets(options.channels);
  const learn = (next: Config) =>
    known.configure(neverSaid(next, options.env, channelKeys), plainNames(next));
  // Before the first line: a warning may repeat what stands in a section.
  learn(config);
  const { stays, logFile, logTo = Deno.stderr, hinted = (line: string) => line } = options;
  // A command for one answer says on its terminal what is wrong.
  const file = stays ? config.log.file || logFile : undefined;
  const stream = file === undefined ? logTo : await openLogFile(file, config.log);
  const output = openLogOutput(config.log.format, stream);
  const recentLines = stays ? new RecentLines() : undefined;
  const write = (line: string) => {
    output.write(line);
    if (!READING.test(line)) recentLines?.add(line);
  };
  const log = createLog(
    { ...config.log, level: options.logLevel ?? config.log.level },
    (line) => write(hinted(known.scrubber.text(line))),
  );
  const logLine = (line: string) => write(known.scrubber.text(line));
  const flush = () => output.flush(LOG_FLUSH_MS);
  return { log, flush, known, learn, logLine, recentLines, ...file !== undefined && { file } };
}

/** Throws `config_invalid` where nothing can be written. */
async function openLogFile(
  file: string,
  { rotateMiB, rotateDays, keepFiles, compress }: Config["log"],
): Promise<LogOutputOptions["stream"]> {
  try {
    await Deno.mkdir(dirname(file), { recursive: true, mode: 0o700 });
    (await Deno.open(file, { append: true, create: true, mode: 0o600 })).close();
  } catch (cause) {
    const message = `Can't write the log "${file}": ${(cause as Error).message}. ` +
      "Name another file in log.file";
    throw new ServiceError("config_invalid", message, { param: "log.file" }, { cause });
  }
  return rotatedLog(file, {
    maxBytes: rotateMiB * MIB,
    maxAgeMs: rotateDays * DAY_MS,
    keepFiles,
    compress,
  });
}
