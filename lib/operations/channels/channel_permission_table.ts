/**
 * What the workers of the channels that are switched on may touch, for people who look
 * (`service permissions`).
 *
 * @module
 */

import { channelSpecs } from "../../registry/channel_specs.ts";
import { type ConfiguredChannels, workerSourceOf } from "../../registry/worker_source_of.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Permission } from "../../base/permission.ts";
import { channelWorkerPermissions } from "../../channel_worker/worker_permissions.ts";

/** In the order of the channels. One that cannot be started has nothing, and is not in it. */
export function channelPermissionTable(configured: ConfiguredChannels): Permission[] {
  return channelSpecs({ ...configured, fingerprintKey: new Uint8Array(32) })
    .filter(({ enabled, problem }) => enabled && problem === undefined)
    .flatMap(({ runtimeName }) => {
      try {
        const { boot, permissions } = workerSourceOf(configured, { runtimeName });
        return channelWorkerPermissions({ ...boot, permissions });
      } catch (error) {
        if (error instanceof ServiceError) return [];
        throw error;
      }
    });
}
