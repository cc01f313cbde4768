/**
 * One more sender who may write to an instance of a channel, as a change of its section.
 *
 * @module
 */

import { ServiceError } from "../../base/errors.ts";
import type { Section } from "../../channel/management.ts";
import { instancesOf } from "../../channel/management/instances_of.ts";
import { readSection } from "../../channel/setup/read_section.ts";
import type { UsableChannel } from "../../registry/channel_registry.ts";

/** Who may write where. */
export interface AllowedSender {
  instanceId?: string;
  senderId: string;
}

/** Values of the section, as the file has it, that allow the sender. */
export function valuesAllowing(
  channel: UsableChannel,
  { instanceId, senderId }: AllowedSender,
  written: Section,
): { allowFrom: string[] } {
  const { descriptor } = channel;
  const instance = instancesOf(channel, written).find((each) => each.instanceId === instanceId);
  const { allowFrom } = readSection(instance?.section ?? {}, descriptor).values;
  if (!Array.isArray(allowFrom)) {
    const key = `channels.${descriptor.name}.allowFrom`;
    throw new ServiceError("config_invalid", `${key} is not a list, so nobody is added to it`, {
      param: key,
    });
  }
  return { allowFrom: [...new Set([...allowFrom, senderId])] };
}
