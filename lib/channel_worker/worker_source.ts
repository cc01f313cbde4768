/**
 * What a worker is made of, before it is started.
 *
 * @module
 */

import type { ChannelPermissions } from "../channel/descriptor.ts";
import type { WorkerBoot } from "./protocol.ts";

export interface WorkerSource {
  boot: WorkerBoot;
  /** With the values of fields in the places of `{field}`; what a folder of its own needs is added. */
  permissions: ChannelPermissions;
  /** `npm:<package>@<version>`, of the manifest. */
  dependencies: readonly string[];
}
