/**
 * Writes a change of the configuration after its audit record. A second record follows only where the
 * file could not be written.
 *
 * @module
 */

import { readConfigText } from "../config/config_file.ts";
import { formatPath } from "../base/key_path.ts";
import type { HomePaths } from "../config/paths.ts";
import { saveConfig } from "../config/save.ts";
import { ServiceError, toErrorData } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { AuditLog } from "../audit/log.ts";
import type { PlannedChange } from "./plan_change.ts";

/** What writing needs. */
export interface WriteSettingsDeps {
  paths: HomePaths;
  audit: Pick<AuditLog, "append" | "digest">;
  log: Pick<Log, "error">;
}

/** How often a change is begun anew because somebody else changed the file meanwhile. */
const MAX_ATTEMPTS = 5;

/** False when somebody else changed the file since it was read as `before`: nothing was written. */
export async function writeSettings(
  { keys, text, value }: Pick<PlannedChange, "keys" | "text" | "value">,
  before: string | undefined,
  by: string,
  { paths, audit, log }: WriteSettingsDeps,
): Promise<boolean> {
  const { seq } = await audit.append("settings.change", {
    by,
    file: paths.configFile,
    keys: keys.map(formatPath),
    // Tells afterwards whether a file is the one that was to be written.
    text: audit.digest(text),
  });
  try {
    await saveConfig({ paths, before, value });
    return true;
  } catch (error) {
    const { code } = toErrorData(error);
    await audit.append("settings.failed", { start: seq, code }).catch((cause) =>
      log.error("That a change of the settings failed is not on record", {
        start: seq,
        reason: toErrorData(cause).message,
      })
    );
    const now = await readConfigText(paths.configFile).catch(() => before);
    if (now !== before) return false;
    throw error;
  }
}

/**
 * Makes a change, and makes it anew for as long as `attempt` resolves with undefined, since somebody else
 * was faster. Rejects with `overloaded` when that never ends.
 */
export async function untilWritten<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let left = MAX_ATTEMPTS; left > 0; left--) {
    const done = await attempt();
    if (done !== undefined) return done;
  }
  throw new ServiceError(
    "overloaded",
    "The configuration is being changed by somebody else all the time; nothing was written",
    { retryAfterS: 1 },
  );
}
