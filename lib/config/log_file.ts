/**
 * Where the service's log may go: not where it would be taken for something else, nor where the agent writes.
 *
 * @module
 */

import { isInside } from "../base/inside.ts";
import { realPathOf } from "../base/real_path.ts";
import { besideConfig, type HomePaths } from "./paths.ts";

/** `log.file` as an absolute path, empty for none; or why it cannot be used. */
export function logFile(
  written: string,
  workspace: string | undefined,
  paths: Pick<HomePaths, "home" | "configFile" | "userHome">,
): { path: string } | { problem: string } {
  const path = besideConfig(written, paths);
  if (path === "") return { path };
  try {
    const real = realPathOf(path);
    if (workspace !== undefined && isInside(real, realPathOf(workspace))) {
      return { problem: `"${written}" is inside the workspace, where the agent can write` };
    }
    const home = realPathOf(paths.home);
    if (isInside(real, home) && !isInside(real, `${home}/logs`)) {
      return {
        problem: `"${written}" is inside the home; expected it in "${home}/logs" or elsewhere`,
      };
    }
  } catch (error) {
    return { problem: `"${written}" can't be used: ${(error as Error).message}` };
  }
  return { path };
}
