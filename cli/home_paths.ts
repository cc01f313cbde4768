/**
 * Where everything of this user's home is, for a command.
 *
 * @module
 */

import { type HomePaths, resolvePaths } from "../lib/config/paths.ts";
import type { Globals } from "./command.ts";

/** The paths of the home that the environment and `--config` name. */
export function homePaths(globals: Pick<Globals, "config">): HomePaths {
  return resolvePaths({
    configFlag: globals.config,
    env: (name) => Deno.env.get(name),
    homeDir: Deno.env.get("HOME") ?? Deno.env.get("USERPROFILE") ?? Deno.cwd(),
  });
}
