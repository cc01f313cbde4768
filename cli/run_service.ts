/**
 * Runs the service in the foreground until it is told to stop: what `serve` and `gateway` share.
 *
 * @module
 */

import { ownHome, type OwnOptions } from "../lib/process/own_home.ts";
import type { OwnedHome } from "../lib/process/owned_home.ts";
import { ServiceError } from "../lib/base/errors.ts";
import { serviceLog } from "../lib/config/paths.ts";
import { EXIT, type ExitCode, type OptionSpec } from "./command.ts";
import { LAUNCHD_LABEL, LOG_FILE, type ServiceRecord, writeRecord } from "./lifecycle/record.ts";
import { hasTerminal, onStopSignals } from "./stop_signals.ts";

/** Of every command that runs the service. */
export const NEW_JOURNAL: OptionSpec = {
  name: "new-journal",
  summary: "Start with an empty database if the home's is missing",
};

/** How long a command that only looks may have the home, and how long several of them may, one after the other. */
const LOOK_MS = 100;
const LOOKS_MS = 5_000;

/**
 * Starts the service, calls `announce`, and drains on SIGTERM and SIGINT, and on SIGHUP where it has a terminal;
 * without one that has the configuration read again. A second SIGTERM or
 * SIGINT ends the process at once, whatever the service does: it is handled on this thread.
 */
export async function runService(
  options: OwnOptions,
  announce: (home: OwnedHome) => void,
): Promise<ExitCode> {
  const named = Deno.env.get(LOG_FILE);
  // What a service starts inherits its variables, and would set another home's log aside.
  const logFile = named === serviceLog(options.paths) ? named : undefined;
  const restart = { asked: Promise.withResolvers<void>() };
  const own = () =>
    openHome({
      ...options,
      ...{ watch: true, stays: true, logFile },
      restart: () => restart.asked.resolve(),
    });
  let home = await own();
  let record: ServiceRecord = {
    pid: Deno.pid,
    startedAt: Date.now(),
    args: Deno.args,
    cwd: Deno.cwd(),
    log: logFile,
    ...home.logFile !== logFile && { logFile: home.logFile },
    launchdLabel: logFile === undefined ? undefined : Deno.env.get(LAUNCHD_LABEL),
    drainTimeoutS: home.loaded.config.agent.drainTimeoutS,
  };
  const say = async (what: Partial<ServiceRecord>) => {
    record = { ...record, ...what };
    await writeRecord(options.paths, record).catch((error: Error) =>
      home.log.warning("What other commands need to know of this service was not written", {
        reason: error.message,
      })
    );
  };
  const stopped = Promise.withResolvers<void>();
  let isStopping = false;
  const reloadsOnHangUp = !hasTerminal();
  using _signals = onStopSignals(["SIGTERM", "SIGINT", "SIGHUP"], (signal) => {
    if (signal === "SIGHUP" && reloadsOnHangUp) {
      home.log.info("SIGHUP: reading the configuration again");
      // Never rejects while the service stays.
      if (!isStopping) void home.reload("signal");
    } else if (!isStopping) {
      isStopping = true;
      stopped.resolve();
    } else if (signal !== "SIGHUP") {
      home.killChildren();
      Deno.exit(EXIT.interrupted);
    }
  });
  const leave = async () => {
    const { drainTimeoutS } = home.loaded.config.agent;
    home.log.info(
      `Stopping: running turns get ${drainTimeoutS} s; a second signal ends at once`,
    );
    const { interrupted } = await home.leave({ graceMs: drainTimeoutS * 1_000 });
    home.log.info("Stopped", { interrupted });
    return interrupted;
  };
  try {
    await say({});
    announce(home);
    for (;;) {
      await Promise.race([stopped.promise, restart.asked.promise, home.authority.died]);
      if (isStopping) break;
      await leave();
      await home.flushLog();
      restart.asked = Promise.withResolvers();
      home = await own();
      await say({ drainTimeoutS: home.loaded.config.agent.drainTimeoutS });
      home.log.info("Started again, as somebody asked for it");
    }
    await say({ stoppingAt: Date.now() });
    await say({ stoppedAt: Date.now(), interrupted: await leave() });
    return EXIT.done;
  } finally {
    await home.flushLog();
  }
}

/** Takes the home. Throws `home_busy` where another service has it. */
async function openHome(options: OwnOptions): Promise<OwnedHome> {
  const { paths } = options;
  let home = await ownHome(options);
  const giveUpAt = Date.now() + LOOKS_MS;
  while ("heldBy" in home && Date.now() < giveUpAt) {
    // A command that looks whether the home is taken has it for a moment; the number is the last owner's then.
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    home = await ownHome(options);
    if (!("heldBy" in home)) break;
    const { hasOpen } = await import("./lifecycle/owner.ts");
    if (home.heldBy !== undefined && await hasOpen(home.heldBy, paths.lockFile)) break;
  }
  if (!("heldBy" in home)) return home;
  throw new ServiceError(
    "home_busy",
    `The process ${home.heldBy ?? "(unknown)"} runs a service in ${paths.home}; ` +
      "stop it first with: service stop, or set SERVICE_HOME to another folder",
  );
}
