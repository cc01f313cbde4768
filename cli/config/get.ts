/**
 * `service config get`.
 *
 * @module
 */

import { channelSecrets } from "../../lib/registry/channel_defaults.ts";
import { examine } from "../../lib/settings/examine.ts";
import { valueAt } from "../../lib/base/key_path.ts";
import { readConfig } from "../../lib/settings/load.ts";
import { configError } from "../../lib/config/problem.ts";
import { redact } from "../../lib/config/redact.ts";
import { configSchema } from "../../lib/config/schema.ts";
import { jsonLine, type Output } from "../output.ts";
import type { ConfigDeps } from "./deps.ts";
import { parseKey, requireKnown } from "./key.ts";

/**
 * Prints the configuration in force, without secrets. A variable that is not set here does no harm:
 * what is shown is the reference.
 */
export async function get(
  out: Output,
  deps: ConfigDeps,
  { key, json }: { key?: string; json: boolean },
): Promise<void> {
  const path = key === undefined ? [] : parseKey(key);
  const { file, text } = await readConfig(deps);
  const examined = examine({ ...deps, text });
  const problems = examined.problems.filter(({ kind }) => kind !== "reference");
  if (problems.length > 0 || examined.config === undefined) {
    throw configError(`Cannot load ${file}`, problems);
  }

  const hasChannels = path.length === 0 || path[0] === "channels";
  const shown = redact({
    config: examined.config,
    written: examined.canonical,
    schema: configSchema,
    environmentProviders: examined.environmentProviders,
    ...hasChannels && { channels: channelSecrets(await deps.channels()) },
  });
  const value = valueAt(shown, path);
  if (value === undefined) requireKnown(path, value);
  if (json) out.write(jsonLine(value ?? null) + "\n");
  else if (value === undefined) out.note(`${key} is not set`);
  else {
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    out.line({ text, isData: true });
  }
}
