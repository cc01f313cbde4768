/**
 * The workers of a home's channels.
 *
 * @module
 */

import { systemClock } from "../../base/clock.ts";
import type { ConfiguredChannels } from "../../registry/worker_source_of.ts";
import { workerSourceOf } from "../../registry/worker_source_of.ts";
import type { TriedSandboxes } from "../../executor/tried_sandboxes.ts";
import type { HomePaths } from "../../config/paths.ts";
import type { Log } from "../../base/log.ts";
import type { Scrubber } from "../../secrets/scrubber.ts";
import { fetchedPackages } from "../../packages/locked_packages.ts";
import { ChannelWorkers } from "./channel_workers.ts";
import { createChannelExecutor } from "./create_channel_executor.ts";
import { createPackageFetcher } from "../../packages/package_fetcher.ts";
import { ownFolders } from "./own_folders.ts";

/** What they are opened with. */
export interface OpenChannelWorkers {
  /** As it is configured at the moment. */
  configured: () => ConfiguredChannels;
  paths: HomePaths;
  /** Folder of Deno's packages. */
  denoDir: string | undefined;
  /** See `ExecutorOptions`. */
  sandboxes?: TriedSandboxes;
  /** See `ChannelWorkersDeps`. */
  stateKey?: (runtimeName: string) => Promise<Uint8Array>;
  env: (name: string) => string | undefined;
  scrubber: Pick<Scrubber, "text">;
  log: Log;
}

/** Nothing is started by it. */
export function openChannelWorkers(
  { configured, paths, denoDir, sandboxes, stateKey, env, scrubber, log }: OpenChannelWorkers,
): ChannelWorkers {
  const locked = fetchedPackages(denoDir);
  return new ChannelWorkers({
    sourceOf: (runtimeName) => workerSourceOf(configured(), { runtimeName }),
    stateKey,
    packages: createPackageFetcher({ packages: locked, env, log }),
    locked,
    executor: createChannelExecutor({ cacheDir: `${paths.runDir}/child-cache`, sandboxes, log }),
    cacheDir: `${paths.runDir}/channel-cache`,
    env,
    forbidden: ownFolders(paths),
    scrub: (text) => scrubber.text(text),
    clock: systemClock,
    log,
  });
}
