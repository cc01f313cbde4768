/**
 * What a change of a secret means for the configuration that refers to it.
 *
 * @module
 */

import { examine } from "./examine.ts";
import { formatPath, isWithin } from "./key_path.ts";
import { readConfig } from "./load.ts";
import { formatProblem } from "./problem.ts";
import type { HomePaths } from "./paths.ts";
import type { Env } from "./references.ts";

/** Keys of the configuration that refer to a secret. */
export interface ConfiguredUses {
  keys: string[];
  /** What is wrong with them now, a line each. */
  problems: string[];
}

/** Looks them up; none where the configuration cannot be read. */
export async function configuredUses(
  name: string,
  { paths, env }: { paths: HomePaths; env: Env },
): Promise<ConfiguredUses> {
  const text = await readConfig({ paths }).then(({ text }) => text, () => undefined);
  const { secretReferences, problems } = examine({ text, paths, env });
  const uses = secretReferences.filter((each) => each.name === name);
  return {
    keys: [...new Set(uses.map(({ path }) => formatPath(path)))],
    problems: problems.filter((each) => uses.some(({ path }) => isWithin(path, each.path)))
      .map(formatProblem),
  };
}
