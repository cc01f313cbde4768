/**
 * Runs the service in the foreground until it is told to stop: what `serve` and `gateway` share.
 *
 * @module
 */

import { type OwnedHome, ownHome, type OwnOptions } from "../lib/process/own_home.ts";
import { ServiceError } from "../lib/base/errors.ts";
import { EXIT, type ExitCode, type OptionSpec } from "./command.ts";
import { onStopSignals } from "./stop_signals.ts";

/** Of every command that runs the service. */
export const NEW_JOURNAL: OptionSpec = {
  name: "new-journal",
  summary: "Start with an empty database if the home's is missing",
};

/**
 * Starts the service, calls `announce`, and drains on SIGTERM, SIGINT or SIGHUP. A second SIGTERM or
 * SIGINT ends the process at once, whatever the service does: it is handled on this thread.
 */
export async function runService(
  options: OwnOptions,
  announce: (home: OwnedHome) => void,
): Promise<ExitCode> {
  const home = await ownHome({ ...options, watch: true, stays: true });
  if ("heldBy" in home) {
    throw new ServiceError(
      "home_busy",
      `The process ${home.heldBy ?? "(unknown)"} runs a service in ${options.paths.home}; ` +
        "stop it first, or set SERVICE_HOME to another folder",
    );
  }
  const stopped = Promise.withResolvers<void>();
  let isStopping = false;
  using _signals = onStopSignals(["SIGTERM", "SIGINT", "SIGHUP"], (signal) => {
    if (!isStopping) {
      isStopping = true;
      stopped.resolve();
    } else if (signal !== "SIGHUP") {
      home.killChildren();
      Deno.exit(EXIT.interrupted);
    }
  });
  const { drainTimeoutS } = home.loaded.config.agent;
  try {
    announce(home);
    await Promise.race([stopped.promise, home.authority.died]);
    home.log.info(
      `Stopping: running turns get ${drainTimeoutS} s; a second signal ends at once`,
    );
    const { interrupted } = await home.leave({ graceMs: drainTimeoutS * 1_000 });
    home.log.info("Stopped", { interrupted });
    return EXIT.done;
  } finally {
    await home.flushLog();
  }
}
