/**
 * Takes up an edit of the configuration file, or of a secret that it names, while the service runs:
 * what can change
 * live does, what cannot is named, and a broken edit is reported and changes nothing.
 *
 * @module
 */

import { basename, dirname } from "@std/path";
import { classifyChanges } from "../settings/changes.ts";
import { copyPaths } from "../config/copy_paths.ts";
import type { Loaded } from "../settings/load.ts";
import type { Config } from "../config/schema.ts";
import { toErrorData } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { ReloadedSettings } from "../contract/reloaded_settings.ts";
import type { SecretStore } from "../state/secret_store.ts";

/** What watching needs. */
export interface WatchDeps {
  configFile: string;
  /** Those that the file may name: with a change of them it is read again. */
  secrets: Pick<SecretStore, "onChange">;
  /** The configuration that is in force; live keys of it follow the file. */
  config: Config;
  load: () => Promise<Loaded>;
  /** Puts live keys in force. */
  apply: (next: Config, paths: readonly string[]) => void;
  log: Log;
}

/** Editors write in several steps; the file is read once they have been quiet for this long. */
const QUIET_MS = 100;

/** The file is taken up when it changes, until `close`. */
export interface ConfigWatcher {
  /** Takes it up now. Resolves when what can be live is. */
  takeUp(): Promise<void>;
  /** The same, for somebody who wants to know what came of it since the last time. */
  reload(): Promise<ReloadedSettings>;
  close(): void;
}

/** Watches until `close`. */
export function watchConfig(deps: WatchDeps): ConfigWatcher {
  const { config, log } = deps;
  const name = basename(deps.configFile);
  const watcher = Deno.watchFs(dirname(deps.configFile), { recursive: false });
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;
  let reading: Promise<unknown> = Promise.resolve();
  /** Live keys that were taken up since somebody last asked: an edit is noticed before they can. */
  let takenUp = new Set<string>();
  /** Keys that were said to wait for a restart. */
  let told = "";

  async function reload(): Promise<ReloadedSettings> {
    let next: Config;
    try {
      next = (await deps.load()).config;
    } catch (error) {
      const problem = toErrorData(error).message;
      log.error("The edited configuration cannot be used; the running one stays in force", {
        reason: problem,
      });
      return { live: [], waiting: [], problem };
    }
    if (closed) return { live: [], waiting: [] };
    const changes = classifyChanges(config, next);
    const live = changes.filter(({ takes }) => takes === "live").map(({ path }) => path);
    const restart = changes.filter(({ takes }) => takes === "restart").map(({ path }) => path);
    copyPaths(next, config, live);
    if (live.length > 0) {
      deps.apply(next, live);
      for (const key of live) takenUp.add(key);
      log.info("The edited configuration is in force", { keys: live.join(", ") });
    }
    const waiting = restart.join(", ");
    if (restart.length > 0 && waiting !== told) {
      log.warning("restart_required: these changed keys wait for a restart of the service", {
        keys: waiting,
      });
    }
    told = waiting;
    return { live: [...takenUp], waiting: restart };
  }

  function takeUp(): Promise<ReloadedSettings> {
    clearTimeout(timer);
    const reloaded = reading.then(reload).catch((error) => {
      const problem = toErrorData(error).message;
      log.error("The edited configuration could not be taken up", { reason: problem });
      return { live: [], waiting: [], problem };
    });
    reading = reloaded;
    return reloaded;
  }

  async function watch(): Promise<void> {
    for await (const { paths } of watcher) {
      if (paths.some((path) => basename(path) === name)) schedule();
    }
  }

  function schedule(): void {
    clearTimeout(timer);
    timer = setTimeout(takeUp, QUIET_MS);
  }

  const endSecrets = deps.secrets.onChange(schedule);
  watch().catch((error) =>
    log.error("The configuration is no longer watched", { reason: String(error) })
  );

  return {
    takeUp: async () => void await takeUp(),
    async reload() {
      const reloaded = await takeUp();
      if (reloaded.problem === undefined) takenUp = new Set();
      return reloaded;
    },
    close() {
      closed = true;
      endSecrets();
      clearTimeout(timer);
      watcher.close();
    },
  };
}
