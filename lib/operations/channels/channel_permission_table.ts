/**
 * What the places of the channels that are switched on may touch, for people who look
 * (`service permissions`).
 *
 * @module
 */

import { channelSpecs } from "../../registry/channel_specs.ts";
import { type ConfiguredChannels, placeSourceOf } from "../../registry/place_source_of.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Permission } from "../../base/permission.ts";
import { placePermissions } from "../../place/place_permissions.ts";

/** In the order of the channels. One that cannot be started has nothing, and is not in it. */
export function channelPermissionTable(configured: ConfiguredChannels): Permission[] {
  return channelSpecs({ ...configured, fingerprintKey: new Uint8Array(32) })
    .filter(({ enabled, problem }) => enabled && problem === undefined)
    .flatMap(({ runtimeName }) => {
      try {
        const { boot, permissions } = placeSourceOf(configured, { runtimeName });
        return placePermissions({ ...boot, permissions });
      } catch (error) {
        if (error instanceof ServiceError) return [];
        throw error;
      }
    });
}
