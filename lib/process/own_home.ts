/**
 * Brings up the service of a home in this process: takes the lock, starts the gateway, and opens the rest
 * (`owned_home.ts`) while that loads. It imports no more than it takes to start the gateway.
 *
 * @module
 */

import type { LogOutputOptions } from "../base/log_output.ts";
import { takeHome } from "../authority/take_home.ts";
import type { HomePaths } from "../config/paths.ts";
import { TriedSandboxes } from "../executor/tried_sandboxes.ts";
import { findOwnDenoDir } from "../packages/deno_dir.ts";
import type { ChannelRegistry } from "../registry/channel_registry.ts";
import { type GatewayLauncher, launchGateway } from "./launch_gateway.ts";
import type { Begun } from "./begin_home.ts";
import type { OwnedHome } from "./owned_home.ts";

/** How a home is to be opened. */
export interface OwnOptions {
  paths: HomePaths;
  version: string;
  env: (name: string) => string | undefined;
  lastGood: boolean;
  /** Begin with an empty journal where that of the home is missing. */
  newJournal?: boolean;
  /** Whether to serve the HTTP API; by the configuration when undefined. */
  api?: boolean;
  /** Finds the channels that there are; those that the configuration enables run. Absent: none does. */
  channels?: () => Promise<ChannelRegistry>;
  /** Values that go over those of the file, from the command line. */
  apiAddress?: { host?: string; port?: number };
  /** Least level that is logged, instead of the configured one. */
  logLevel?: "debug" | "info" | "warning" | "error";
  /** Rewrites commands in a log line as they are typed in this installation. */
  hinted?: (line: string) => string;
  /** The file that standard error of this process goes to, and the log, unless `log.file` names another. */
  logFile?: string;
  /** Takes log lines instead of standard error, for a terminal that is drawn on. */
  logTo?: LogOutputOptions["stream"];
  /** Takes what is odd about the configuration; by default the log does. */
  warn?: (text: string) => void;
  /** Whether edits of the configuration file are taken up while it runs. */
  watch?: boolean;
  /** What everything but turns may take to stop; less only in tests. */
  finishMs?: number;
  /** Starts it again once it has left; absent where nobody does. */
  restart?: () => void;
  /** Whether the gateway has a process of its own, and is started again when that ends. */
  stays?: boolean;
  /** Entry of the gateway; another one only in tests. */
  entry?: URL;
}

/** The same, with the channels that were found. */
export type HomeOptions = Omit<OwnOptions, "channels"> & { channels?: ChannelRegistry };

/** Opens a home, or says which process has it. */
export async function ownHome(
  options: OwnOptions,
): Promise<OwnedHome | { heldBy: number | undefined }> {
  const lock = await takeHome(options.paths);
  if ("heldBy" in lock) return lock;
  const { release } = lock;
  let launcher: GatewayLauncher | undefined;
  let begun: Begun | undefined;
  try {
    const denoDir = findOwnDenoDir(options.env);
    const sandboxes = new TriedSandboxes({ folder: `${options.paths.runDir}/child-cache` });
    launcher = await launchGateway(options, { denoDir, sandboxes });
    // The gateway loads beside what this process is made of, which would keep its start waiting.
    const [{ z }] = await Promise.all([import("zod"), launcher.begun]);
    // What is checked once is checked sooner than a check of its own is compiled.
    z.config({ jitless: true });
    const { beginHome } = await import("./begin_home.ts");
    begun = await beginHome(options);
    await launcher.allow(begun.table, begun);
    const { openHome } = await import("./owned_home.ts");
    return await openHome({ ...begun, denoDir, sandboxes, launcher, release });
  } catch (error) {
    await launcher?.shutdown();
    release();
    await begun?.flush();
    throw error;
  }
}
