/**
 * Where the second copy of the audit's checkpoints may stand: out of reach of what it is to protect
 * against.
 *
 * @module
 */

import { expandHome, type HomePaths, isAbsolutePath, normalize } from "./paths.ts";
import { isInside } from "../base/inside.ts";
import { realPathOf } from "../base/real_path.ts";

/** `audit.mirror` as an absolute path, empty for none; or why it cannot be used. */
export function auditMirror(
  written: string,
  workspace: string | undefined,
  { home, userHome }: Pick<HomePaths, "home" | "userHome">,
): { path: string } | { problem: string } {
  if (written === "") return { path: "" };
  const expanded = expandHome(written, userHome);
  if (!isAbsolutePath(expanded)) {
    return { problem: `"${written}" is no absolute path; begin it with / or ~/` };
  }
  const path = normalize(expanded);
  try {
    const real = realPathOf(path);
    if (isInside(real, realPathOf(home))) {
      return { problem: `"${written}" is inside of the home "${home}", which it is to outlast` };
    }
    if (workspace !== undefined && isInside(real, realPathOf(workspace))) {
      return { problem: `"${written}" is inside of the workspace, where the agent can write` };
    }
  } catch (error) {
    return { problem: `"${written}" cannot be used: ${(error as Error).message}` };
  }
  return { path };
}
