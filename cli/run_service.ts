/**
 * Runs the service in the foreground until it is told to stop: what `serve` and `gateway` share.
 *
 * @module
 */

import { type OwnedHome, ownHome, type OwnOptions } from "../lib/authority/own_home.ts";
import { ServiceError } from "../lib/errors.ts";
import { EXIT, type ExitCode } from "./command.ts";

/** Time that running turns get after the first signal (the second one ends at once). */
const DRAIN_GRACE_MS = 30_000;

/**
 * Starts the service, calls `announce`, and drains on SIGTERM or SIGINT. A second signal ends the
 * process at once, whatever the service does: it is handled on this thread.
 */
export async function runService(
  options: OwnOptions,
  announce: (home: OwnedHome) => void,
): Promise<ExitCode> {
  const home = await ownHome({ ...options, watch: true });
  if ("heldBy" in home) {
    throw new ServiceError(
      "home_busy",
      `The process ${home.heldBy ?? "(unknown)"} runs a service in ${options.paths.home}; ` +
        "stop it first, or set SERVICE_HOME to another folder",
    );
  }
  const stopped = Promise.withResolvers<void>();
  let signals = 0;
  const onSignal = () => {
    signals++;
    if (signals === 1) stopped.resolve();
    else {
      home.killChildren();
      Deno.exit(EXIT.interrupted);
    }
  };
  Deno.addSignalListener("SIGTERM", onSignal);
  Deno.addSignalListener("SIGINT", onSignal);
  try {
    announce(home);
    await Promise.race([stopped.promise, home.authority.died]);
    home.log.info("Stopping: running turns get 30 s; a second signal ends at once");
    const { interrupted } = await home.leave({ graceMs: DRAIN_GRACE_MS });
    home.log.info("Stopped", { interrupted });
    return EXIT.done;
  } finally {
    await home.flushLog();
  }
}
