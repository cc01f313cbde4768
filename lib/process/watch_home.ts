/**
 * What is looked after while a home is open: its configuration file, its health, its clock.
 *
 * @module
 */

import { AUDIT_FILE } from "../audit/log.ts";
import type { Authority } from "../authority/authority.ts";
import type { Health } from "../authority/health.ts";
import { type ConfigWatcher, watchConfig } from "../authority/watch_config.ts";
import { CLOCK_FIX, findClockFault } from "../base/clock_fault.ts";
import { ServiceError, toErrorData } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { HomePaths } from "../config/paths.ts";
import type { ReloadedSettings } from "../contract/reloaded_settings.ts";
import type { Actions } from "../gate/gate.ts";
import type { HomeLog } from "./open_log.ts";
import type { Records } from "./open_records.ts";
import { loadOwn, serviceConfig } from "./own_config.ts";
import type { OwnedParts } from "./owned_home.ts";
import type { HomeOptions } from "./own_home.ts";

/**
 * After a start. It is as good as in it, since a command that comes earlier has the sandbox tried first,
 * and nobody has to wait for it.
 */
const TRIAL_AFTER_MS = 2_000;

/** How soon it is noticed that too little disk space is free, or enough again. */
const MEASURE_STORAGE_MS = 10_000;

/** Before anything is written: that would be as old as the clock says. */
export async function warnOfClock(paths: HomePaths, log: Log): Promise<void> {
  const written = [paths.database, `${paths.auditDir}/${AUDIT_FILE}`];
  const fault = await findClockFault(written, Date.now());
  if (fault === undefined) return;
  log.warning(
    `The clock is wrong: ${fault.detail}. Tokens, automations and certificates go by it. ${CLOCK_FIX}`,
  );
}

/** Takes up the configuration file because somebody asks, with one record of what came of it. */
export async function reloadOnRecord(
  by: string,
  { config }: { config?: ConfigWatcher },
  { audit, log }: Pick<Records, "audit"> & Pick<HomeLog, "log">,
): Promise<ReloadedSettings> {
  if (config === undefined) {
    throw new ServiceError(
      "not_enabled",
      "Only a service that stays reads its configuration again",
    );
  }
  const reloaded = await config.reload();
  await audit.append("settings.reloaded", { by, ...reloaded }).catch((error) =>
    log.error("That the configuration was read again is not on record", {
      reason: toErrorData(error).message,
    })
  );
  return reloaded;
}

/** Takes up what is edited in the configuration file. */
export function watchOwnConfig(
  options: HomeOptions,
  { state, config, channels, learn, log }: OwnedParts,
  authority: Authority,
) {
  return watchConfig({
    configFile: options.paths.configFile,
    secrets: state.secrets,
    config,
    load: () => loadOwn(options),
    apply(next, changed) {
      learn(next);
      authority.configure(serviceConfig(next), changed);
      if (channels && changed.some(isOfChannels)) authority.setChannels(channels.specs());
    },
    log,
  });
}

/** What is looked after while the gateway runs. */
export interface Watching {
  stop(): void;
  tried(): Promise<void>;
}

/** Tells the gateway how the sandbox of commands is, tried once, and whether there is room on the disk. */
export function watchHealth(
  { actions, health, authority, tries, log }: {
    actions: Pick<Actions, "checks">;
    health: Health;
    authority: Pick<Authority, "setChecks">;
    /** Whether the sandbox is tried. */
    tries: boolean;
    log: Log;
  },
): Watching {
  let isOver = false;
  let trial: Promise<void> | undefined;
  const trying = !tries ? undefined : setTimeout(() => {
    trial = actions.checks({ test: true }).then((found) => authority.setChecks(health.add(found)))
      .catch((error) => {
        const reason = (error as Error).message;
        if (!isOver) log.warning("The sandbox of commands could not be tried", { reason });
      });
  }, TRIAL_AFTER_MS);
  const measuring = setInterval(async () => {
    if (await health.measureStorage()) authority.setChecks(health.checks);
  }, MEASURE_STORAGE_MS);
  Deno.unrefTimer(measuring);
  return {
    stop() {
      isOver = true;
      clearTimeout(trying);
      clearInterval(measuring);
    },
    tried: async () => await trial,
  };
}

/** Whether a key is of channels, such as `channels.email.enabled`. */
function isOfChannels(path: string): boolean {
  return path === "channels" || path.startsWith("channels.");
}
