/**
 * What starts the processes of channels: each is the service's own user to the files, since its folder
 * lies in the home, and lives for as long as the channel is on.
 *
 * @module
 */

import { createExecutor, type Executor, type ExecutorOptions } from "../../executor/executor.ts";

/** Workers that a service may have; it has one a channel, and two while it changes. */
export const MAX_WORKERS = 256;

/** A channel that serves HTTP has a file open for each connection. */
const MAX_OPEN_FILES = 1_024;

/** A channel that takes more is ended. */
const MAX_HEAP_MIB = 512;
/** With V8's own 16 each process takes 16 MiB more. */
const MAX_NEW_MIB = 2;

/** Makes it; nothing is started before the first channel. */
export function createChannelExecutor(
  options: Pick<ExecutorOptions, "cacheDir" | "log" | "sandbox" | "sandboxes">,
): Executor {
  return createExecutor({
    ...options,
    unconfined: "Deno's permissions alone hold channels",
    staysRoot: true,
    maxSessions: MAX_WORKERS,
    maxOpenFiles: MAX_OPEN_FILES,
    maxHeapMiB: MAX_HEAP_MIB,
    maxNewMiB: MAX_NEW_MIB,
  });
}
