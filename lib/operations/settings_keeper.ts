/**
 * The configuration for operators who are not at the command line: read through the schema, changed
 * through it, whole or not at all, and every change on record.
 *
 * @module
 */

import { classifyChanges } from "../settings/changes.ts";
import { readConfigText } from "../config/config_file.ts";
import { examine } from "../settings/examine.ts";
import { formatPath, isWithin, type KeyPath, parsePath } from "../base/key_path.ts";
import { type Loaded, readConfig } from "../settings/load.ts";
import type { HomePaths } from "../config/paths.ts";
import { requirePinnedCases } from "../settings/pinned_cases.ts";
import { formatProblem } from "../config/problem.ts";
import type { Env } from "../config/references.ts";
import type { Config } from "../config/schema.ts";
import { ServiceError, toErrorData } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { AuditLog } from "../audit/log.ts";
import type { Permission } from "../base/permission.ts";
import type { SecretStore } from "../state/secret_store.ts";
import { type PermissionDifference, permissionDifference } from "./permission_difference.ts";
import { planChange } from "../settings/plan_change.ts";
import { type Setting, viewSettings } from "./settings_view.ts";
import type { SettingChange } from "../settings/setting_change.ts";
import { untilWritten, writeSettings } from "../settings/write_settings.ts";

/** What it works on. */
export interface SettingsKeeperDeps {
  paths: HomePaths;
  env: Env;
  /** In force; live keys of it follow the file. */
  running: Config;
  /** Of the running service. */
  permissions: readonly Permission[];
  secrets: Pick<SecretStore, "list">;
  /** The file with what the command line puts over it; keeps no copy. */
  load: () => Promise<Loaded>;
  /** What the service would be given with a configuration. */
  permissionsOf: (loaded: Loaded) => readonly Permission[];
  /** Takes up the file now; absent: only the next start does. */
  reload?: () => Promise<void>;
  audit: Pick<AuditLog, "append" | "digest">;
  log: Pick<Log, "error">;
}

/** The configuration as it stands in the file. */
export interface SettingsView {
  file: string;
  settings: Setting[];
  /** Keys whose value in the file waits for a restart. */
  waiting: string[];
  /** Why the file would not load, a line each; the settings are then those that loaded last. */
  problems: string[];
}

/** What became of a change. */
export interface SettingsChanged {
  /** False: the file held all of it already. */
  written: boolean;
  /** Keys that are in force. */
  live: string[];
  /** Keys that wait for a restart of the service, and what that would change. */
  restartRequired?: { keys: string[]; permissions: PermissionDifference };
}

/** Reads and changes the configuration for operators. */
export interface SettingsKeeper {
  get(): Promise<SettingsView>;
  /** One at a time. `by` stands in the record. */
  change(changes: readonly SettingChange[], by: string): Promise<SettingsChanged>;
}

/** Changes that wait for the one before. */
const MAX_WAITING = 16;

/** Reads and changes the configuration of a home. */
export function settingsKeeper(deps: SettingsKeeperDeps): SettingsKeeper {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return {
    get: () => getSettings(deps),
    async change(changes, by) {
      if (waiting >= MAX_WAITING) {
        throw new ServiceError(
          "overloaded",
          `${MAX_WAITING} changes of the settings wait already`,
          {
            retryAfterS: 1,
          },
        );
      }
      waiting++;
      const mine = last.then(() => changeSettings(changes, by, deps));
      last = mine.catch(() => {});
      try {
        return await mine;
      } finally {
        waiting--;
      }
    },
  };
}

async function getSettings(deps: SettingsKeeperDeps): Promise<SettingsView> {
  const { paths, env } = deps;
  const { text, problems: unread } = await readConfig({ paths }).then(
    ({ text }) => ({ text, problems: [] }),
    (error) => ({ text: "{", problems: [toErrorData(error).message] }),
  );
  const examined = examine({ text, paths, env });
  const problems = unread.length > 0 ? unread : examined.problems.map(formatProblem);
  if (problems.length === 0 && examined.config !== undefined) {
    const waiting = await deps.load().then(
      ({ config }) =>
        classifyChanges(deps.running, config).filter(({ takes }) => takes === "restart")
          .map(({ path }) => path),
      (error) => {
        problems.push(toErrorData(error).message);
        return [];
      },
    );
    return { file: paths.configFile, settings: viewSettings(examined), waiting, problems };
  }
  const kept = await readConfigText(paths.lastGoodFile).catch(() => undefined);
  const shown = examine({ text: kept, paths, env });
  return { file: paths.configFile, settings: viewSettings(shown), waiting: [], problems };
}

async function changeSettings(
  changes: readonly SettingChange[],
  by: string,
  deps: SettingsKeeperDeps,
): Promise<SettingsChanged> {
  const keys = await untilWritten(async () => {
    const { text: before } = await readConfig(deps).catch(asRequestFault);
    const plan = planChange({ ...deps, before, changes });
    if (plan.keys.length === 0) return [];
    const { next: config } = plan;
    await requirePinnedCases("Cannot change the settings", { config, paths: deps.paths })
      .catch(asRequestFault);
    return await writeSettings(plan, before, by, deps) ? plan.keys : undefined;
  });
  return keys.length === 0 ? { written: false, live: [] } : await report(keys, deps);
}

/** What is wrong with the configuration is for whoever asked to change it, and no secret. */
function asRequestFault(error: unknown): never {
  throw new ServiceError("invalid_request", toErrorData(error).message, { param: "changes" });
}

/** Which of the keys are in force by now, and what the others would change. */
async function report(
  keys: readonly KeyPath[],
  { running, permissions, load, permissionsOf, reload }: SettingsKeeperDeps,
): Promise<SettingsChanged> {
  await reload?.();
  const loaded = await load();
  const waiting = classifyChanges(running, loaded.config).map(({ path }) => parsePath(path)!);
  const isWaiting = (key: KeyPath) =>
    waiting.some((each) => isWithin(key, each) || isWithin(each, key));
  const live = keys.filter((key) => !isWaiting(key)).map(formatPath);
  const restart = keys.filter(isWaiting).map(formatPath);
  if (restart.length === 0) return { written: true, live };
  return {
    written: true,
    live,
    restartRequired: {
      keys: restart,
      permissions: permissionDifference(permissions, permissionsOf(loaded)),
    },
  };
}
