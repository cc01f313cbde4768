/**
 * What the service of a home may touch, by its configuration and by where the program is.
 *
 * @module
 */

import type { Loaded } from "../settings/load.ts";
import type { HomePaths } from "../config/paths.ts";
import { MODEL_ENV } from "../model/env.ts";
import { providerHosts } from "../model/hosts.ts";
import type { Permission } from "../base/permission.ts";
import { computePermissions } from "./permissions.ts";
import { sourcePaths } from "../base/layout.ts";

/** The permission table of a configuration; what `service permissions` prints. */
export function permissionTable(
  loaded: Loaded,
  paths: HomePaths,
  { api, channels }: { api: boolean; channels: boolean },
): Permission[] {
  const sources = channels ? ["lib/", "channels/"] : ["lib/"];
  return computePermissions({
    config: loaded.config,
    api,
    channels,
    paths,
    providers: providerHosts(loaded.config),
    env: MODEL_ENV,
    sources: sourcePaths(sources, { shares: true }),
  });
}
