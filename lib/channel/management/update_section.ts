/**
 * What a settings request makes of a channel's section, whole or not at all.
 *
 * @module
 */

import { ServiceError } from "../../base/errors.ts";
import type { ChannelDescriptor } from "../descriptor.ts";
import type { ManagementAdapter, Section } from "../management.ts";
import { applyPatch, readPatch, withoutShown } from "../setup/apply_values.ts";
import { call, type ChannelInstance, frozen, instancesOf, isObject } from "./instances_of.ts";

/** A change of a section. */
export interface SectionChange {
  channel: {
    descriptor: Pick<ChannelDescriptor, "name" | "setup" | "defaultActivation">;
    adapter?: ManagementAdapter;
  };
  /** As the file has it: references stay what they are. */
  section: Section;
  /** Absent: the channel, or the instance `default` of one that has several. */
  instanceId?: string;
}

/**
 * The section with values of the contract's fields: a blank secret keeps the stored one, null takes a value
 * out. Throws `invalid_request`, which names the field, `not_found` for an instance of a channel that has
 * one, and `config_invalid` where the stored section is malformed.
 */
export function updateSection(
  { values, ...change }: SectionChange & { values: Readonly<Record<string, unknown>> },
): Section {
  const { channel: { descriptor, adapter }, section, instanceId } = change;
  const patch = readPatch(values, descriptor);
  if (adapter === undefined) {
    refuseInstance(descriptor.name, instanceId);
    return applyPatch(section, withoutShown(patch, section, descriptor), descriptor);
  }
  return updateInstance(change, adapter, instanceId ?? "default", patch);
}

/** The section with an instance that may be none yet, such as one that is being connected. */
export function withInstance(change: SectionChange): Section {
  return change.instanceId === undefined
    ? change.section
    : updateSection({ ...change, values: {} });
}

/** The section with the channel, or one instance of it, switched on or off. */
export function switchSection(
  { enabled, ...change }: SectionChange & { enabled: boolean },
): Section {
  const { channel: { descriptor, adapter }, section, instanceId } = change;
  if (instanceId === undefined) return { ...section, enabled };
  if (adapter === undefined) refuseInstance(descriptor.name, instanceId);
  return updateInstance(change, adapter!, instanceId, { enabled }, true);
}

function updateInstance(
  { channel, section }: SectionChange,
  adapter: ManagementAdapter,
  instanceId: string,
  given: Section,
  mustExist = false,
): Section {
  const { name } = channel.descriptor;
  const before = instancesOf(channel, section);
  const own = before.find((one) => one.instanceId === instanceId)?.section;
  const patch = own === undefined ? given : withoutShown(given, own, channel.descriptor);
  if (mustExist && own === undefined) {
    throw new ServiceError(
      "not_found",
      `There is no instance ${JSON.stringify(instanceId.slice(0, 80))} of ${name}; there are ${
        before.map((one) => one.instanceId).join(", ")
      }`,
      { param: "instance_id" },
    );
  }
  const next: unknown = call(
    name,
    "updateInstanceConfig",
    () => adapter.updateInstanceConfig(frozen(section), frozen(patch), instanceId),
  );
  if (!isObject(next)) {
    throw new ServiceError(
      "config_invalid",
      `Cannot use channels.${name}: updateInstanceConfig of its adapter gives no section`,
      { param: `channels.${name}` },
    );
  }
  requireSiblings(name, before, instancesOf(channel, next), instanceId);
  return next;
}

/** An update of one instance neither removes, renames nor switches another. */
function requireSiblings(
  name: string,
  before: readonly ChannelInstance[],
  after: readonly ChannelInstance[],
  instanceId: string,
): void {
  for (const old of before) {
    if (old.instanceId === instanceId) continue;
    const next = after.find((one) => one.instanceId === old.instanceId);
    if (next?.runtimeName === old.runtimeName && next.enabled === old.enabled) continue;
    throw new ServiceError(
      "config_invalid",
      `Cannot use channels.${name}: its adapter changes ${old.instanceId} with an update of ` +
        instanceId.slice(0, 80),
      { param: `channels.${name}` },
    );
  }
}

function refuseInstance(name: string, instanceId: string | undefined): void {
  if (instanceId === undefined) return;
  throw new ServiceError("not_found", `The channel ${name} has one instance, which has no id`, {
    param: "instance_id",
  });
}
