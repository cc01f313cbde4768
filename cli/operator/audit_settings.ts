/**
 * What the configuration says of the audit: where it is mirrored, and when a new file of it begins.
 *
 * @module
 */

import { examine } from "../../lib/settings/examine.ts";
import { isWithin, type KeyPath } from "../../lib/base/key_path.ts";
import { readConfig } from "../../lib/settings/load.ts";
import { configError } from "../../lib/config/problem.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import type { Env } from "../../lib/config/references.ts";
import type { Config } from "../../lib/config/schema.ts";

/** Keys that the section depends on. */
const NEEDED: readonly KeyPath[] = [["audit"], ["agent", "workspace"]];

/**
 * The section, also of a configuration that is wrong elsewhere: it may just be waiting for the secret
 * that is set now. Rejects with `config_invalid` where the section itself cannot be trusted.
 */
export async function auditSettings(
  { paths, env }: { paths: HomePaths; env: Env },
): Promise<Config["audit"]> {
  const { file, text } = await readConfig({ paths });
  const { config, problems } = examine({ text, paths, env });
  const inTheWay = problems.filter(({ path }) =>
    NEEDED.some((needed) => isWithin(path, needed) || isWithin(needed, path))
  );
  if (config === undefined || inTheWay.length > 0) {
    throw configError(`Cannot load ${file}`, config === undefined ? problems : inTheWay);
  }
  return config.audit;
}
