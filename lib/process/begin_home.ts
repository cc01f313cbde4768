/**
 * What a start finds out of its home before anything else is opened: its channels, its configuration, its
 * log, and what its gateway may touch.
 *
 * @module
 */

import type { Permission } from "../base/permission.ts";
import type { Loaded } from "../settings/load.ts";
import { startTelemetry } from "../telemetry/trace.ts";
import { type HomeLog, openLog } from "./open_log.ts";
import { loadOwn, ownTable } from "./own_config.ts";
import type { HomeOptions, OwnOptions } from "./own_home.ts";

/** What was found. */
export interface Begun extends HomeLog {
  options: HomeOptions;
  loaded: Loaded;
  /** Of the gateway. */
  table: readonly Permission[];
}

/** Finds it out. Throws `config_invalid` where the configuration can't be used. */
export async function beginHome(given: OwnOptions): Promise<Begun> {
  const options = { ...given, channels: await given.channels?.() };
  const [loaded] = await Promise.all([
    loadOwn(options, { forStart: { gateway: options.channels !== undefined } }),
    startTelemetry(),
  ]);
  const homeLog = await openLog(options, loaded.config);
  const warn = options.warn ?? homeLog.log.warning;
  for (const warning of loaded.warnings) warn(warning);
  return { ...homeLog, options, loaded, table: ownTable(options, loaded) };
}
