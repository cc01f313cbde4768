/**
 * What a service that stays writes down about itself, for commands that come to it later: also while it
 * does not answer, and when it is gone.
 *
 * @module
 */

import { writeFileAtomic } from "../../lib/base/atomic_write.ts";
import type { HomePaths } from "../../lib/config/paths.ts";

/** The variable that names the log file of a service in the background. */
export const LOG_FILE = "SERVICE_LOG_FILE";

/** The variable in which a launchd agent says by what name launchd knows it. */
export const LAUNCHD_LABEL = "SERVICE_LAUNCHD_LABEL";

/** A service and how it was started. Times are milliseconds since 1970. */
export interface ServiceRecord {
  pid: number;
  startedAt: number;
  /** Of the command line, such as `["gateway"]`. */
  args: string[];
  cwd: string;
  /** Where its standard error goes. Only a service in the background, or under launchd, has one. */
  log?: string;
  /** The file that its log goes to, if that is another one (`log.file`). */
  logFile?: string;
  /** Its name for launchd, which started it. */
  launchdLabel?: string;
  /** How long running turns get when it stops. */
  drainTimeoutS: number;
  stoppingAt?: number;
  stoppedAt?: number;
  /** Turns that it interrupted when it stopped. */
  interrupted?: number;
}

/** The newest one of a home; undefined where there is none, or none that can be read. */
export async function readRecord({ runDir }: HomePaths): Promise<ServiceRecord | undefined> {
  try {
    return JSON.parse(await Deno.readTextFile(`${runDir}/service.json`));
  } catch {
    return undefined;
  }
}

/** Replaces it. */
export async function writeRecord({ runDir }: HomePaths, record: ServiceRecord): Promise<void> {
  await writeFileAtomic(`${runDir}/service.json`, JSON.stringify(record), { mode: 0o600 });
}
