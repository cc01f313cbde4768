/**
 * What a change of a secret means for the configuration that refers to it.
 *
 * @module
 */

import { classifyChanges } from "./changes.ts";
import { withValue } from "../config/edit.ts";
import { examine } from "./examine.ts";
import { formatPath, isWithin, type KeyPath } from "../base/key_path.ts";
import { readConfig } from "./load.ts";
import { formatProblem } from "../config/problem.ts";
import type { HomePaths } from "../config/paths.ts";
import type { Env } from "../config/references.ts";
import type { Config } from "../config/schema.ts";

/** Keys of the configuration that refer to a secret. */
export interface ConfiguredUses {
  keys: string[];
  /** Those of them that a service that runs takes a new value for only when it is started again. */
  restart: string[];
  /** What is wrong with them now, a line each. */
  problems: string[];
}

/** Looks them up; none where the configuration cannot be read. */
export async function configuredUses(
  name: string,
  { paths, env }: { paths: HomePaths; env: Env },
): Promise<ConfiguredUses> {
  const text = await readConfig({ paths }).then(({ text }) => text, () => undefined);
  const { config, secretReferences, problems } = examine({ text, paths, env });
  const uses = secretReferences.filter((each) => each.name === name);
  // Nobody takes up a configuration that is broken, however it came to be.
  const takesRestart = (path: KeyPath) =>
    config === undefined || problems.length > 0 ||
    classifyChanges(config, withValue(config, path, "another value") as Config)
      .some(({ takes }) => takes === "restart");
  const keysOf = (paths: readonly KeyPath[]) => [...new Set(paths.map(formatPath))];
  const at = uses.map(({ path }) => path);
  return {
    keys: keysOf(at),
    restart: keysOf(at.filter(takesRestart)),
    problems: problems.filter((each) => uses.some(({ path }) => isWithin(path, each.path)))
      .map(formatProblem),
  };
}
