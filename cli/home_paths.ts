/**
 * Where everything of this user's home is, for a command.
 *
 * @module
 */

import { type HomePaths, resolvePaths } from "../lib/config/paths.ts";
import { ServiceError } from "../lib/base/errors.ts";
import type { Globals } from "./command.ts";

/**
 * The paths of the home that the environment and `--config` name. Throws `config_invalid` when
 * neither SERVICE_HOME nor HOME says where it is: the current folder would be a surprise.
 */
export function homePaths(
  globals: Pick<Globals, "config">,
  env: (name: string) => string | undefined = (name) => Deno.env.get(name),
): HomePaths {
  const homeDir = env("HOME") || env("USERPROFILE") || env("SERVICE_HOME");
  if (!homeDir) {
    throw new ServiceError(
      "config_invalid",
      "HOME is not set; set it, or SERVICE_HOME, to a folder",
    );
  }
  return resolvePaths({ configFlag: globals.config, env, homeDir });
}
