/**
 * Writes the configuration for a command, with one audit record, as the running service does for a route.
 *
 * @module
 */

import { hasDigestKey, openDigestKey } from "../../lib/audit/key.ts";
import { formatPath, type KeyPath } from "../../lib/base/key_path.ts";
import { configText, saveConfig, type SaveInputs } from "../../lib/config/save.ts";
import { changeState, type StateDeps } from "../operator/with_state.ts";
import type { Output } from "../output.ts";

/** The change's keys, beside what {@linkcode saveConfig} takes. */
export interface SettingsChange extends Omit<SaveInputs, "paths"> {
  keys: readonly KeyPath[];
}

/** Throws as {@linkcode saveConfig} does. A change that cannot be on record is not made. */
export async function saveSettings(
  { keys, before, value, anew }: SettingsChange,
  deps: StateDeps,
  out: Output,
): Promise<void> {
  const { paths } = deps;
  const text = configText(anew ? undefined : before, value);
  if (text === before) return;
  await changeState(deps, out, async (state) => {
    const change = { by: "cli", file: paths.configFile, keys: keys.map(formatPath) };
    // The key is made with the audit log: one without a log means that the log was removed.
    const digest = await hasDigestKey(paths.keysDir)
      ? (await openDigestKey(paths.keysDir))(text)
      : undefined;
    await state.note("settings.change", { ...change, text: digest });
    try {
      await saveConfig({ paths, before, value, anew });
    } catch (error) {
      await state.note("settings.failed", change);
      throw error;
    }
  });
}
