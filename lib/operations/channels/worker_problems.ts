/**
 * Why instances that have everything they need could still have no worker, such as a range of addresses
 * where a host belongs.
 *
 * @module
 */

import { instancesOf } from "../../channel/management/instances_of.ts";
import type { Section } from "../../channel/management.ts";
import type { UsableChannel } from "../../registry/channel_registry.ts";
import { type ConfiguredChannels, workerSource } from "../../registry/worker_source_of.ts";
import { missingRequirements } from "../../channel/setup/missing_requirements.ts";
import { readSection } from "../../channel/setup/read_section.ts";
import { ServiceError } from "../../base/errors.ts";
import { channelWorkerPermissions } from "../../channel_worker/worker_permissions.ts";

/**
 * By runtime name, for those alone that their contract finds nothing wrong with. `section`: with its
 * references replaced. Throws `config_invalid` as `instancesOf`.
 */
export function workerProblems(
  channel: UsableChannel,
  section: Section,
  configured: Omit<ConfiguredChannels, "registry">,
): Map<string, string> {
  const found = new Map<string, string>();
  const { descriptor } = channel;
  if (descriptor.capabilities.includes("in_service")) return found;
  for (const instance of instancesOf(channel, section)) {
    const { values, problems } = readSection(instance.section, descriptor);
    const missing = missingRequirements(values, descriptor.setup.required);
    if (problems.length + missing.length > 0) continue;
    try {
      const { boot, permissions } = workerSource(configured, channel, instance, "runtime");
      channelWorkerPermissions({ ...boot, permissions });
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "config_invalid") throw error;
      found.set(instance.runtimeName, error.message);
    }
  }
  return found;
}
