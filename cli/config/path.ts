/**
 * `service config path`.
 *
 * @module
 */

import type { Output } from "../output.ts";
import type { ConfigDeps } from "./deps.ts";

/** Prints where the configuration file is, whether or not it exists. */
export async function printPath(
  out: Output,
  { paths }: Pick<ConfigDeps, "paths">,
  json: boolean,
): Promise<void> {
  if (!json) {
    out.line(paths.configFile);
    return;
  }
  const { configFile: file, configFrom: from, lastGoodFile, home } = paths;
  const exists = await Deno.stat(file).then(() => true, () => false);
  out.json({ file, from, exists, lastGoodFile, home });
}
