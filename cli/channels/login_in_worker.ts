/**
 * Logs an instance of a channel in, in a process with the permissions of that channel alone.
 *
 * @module
 */

import type { WorkerSource } from "../../lib/channel_worker/worker_source.ts";
import type { ConfiguredChannels } from "../../lib/registry/worker_source_of.ts";
import type { Globals } from "../command.ts";
import { homePaths } from "../home_paths.ts";
import type { Output } from "../output.ts";
import { noteLog } from "./note_log.ts";
import { openOwnWorkers } from "./open_own_workers.ts";

/** Whether it is logged in then; undefined where there is no login. What the channel says meanwhile goes to standard error. */
export async function loginInWorker(
  { configured, source, force }: {
    configured: ConfiguredChannels;
    source: WorkerSource;
    force: boolean;
  },
  globals: Globals,
  out: Output,
): Promise<boolean | undefined> {
  const workers = openOwnWorkers({ configured, paths: homePaths(globals), log: noteLog(out) });
  try {
    return await workers.login(source, force);
  } finally {
    await workers.shutdown();
  }
}
