/**
 * Whether somebody who wrote to a channel may write there, or is a stranger who may be given a code.
 *
 * @module
 */

import { instancesOf } from "../../channel/management/instances_of.ts";
import { readSection } from "../../channel/setup/read_section.ts";
import type { UsableChannel } from "../../registry/channel_registry.ts";
import { type ConfiguredChannels, sectionOf } from "../../registry/worker_source_of.ts";
import type { Stranger } from "../../state/pairing_store.ts";

/** Who wrote where, as a channel tells it. */
export interface StrangerAsked {
  runtimeName: string;
  senderId: string;
  senderName?: string;
}

/** What whoever asked is told. */
export interface PairAnswer {
  isAllowed: boolean;
  /** Absent where none is to be given. */
  code?: string;
}

/** What a sender is to a channel now. */
export interface FoundSender {
  isAllowed: boolean;
  /** Absent for one who may write, and where `pairing` gives no codes. */
  stranger?: Stranger;
}

const NOBODY: FoundSender = { isAllowed: false };

/** Looks at the configuration that is in force. */
export function findSender(
  { registry, config }: Pick<ConfiguredChannels, "registry" | "config">,
  asked: StrangerAsked,
): FoundSender {
  // In the configuration it would be a reference to a variable.
  if (asked.senderId.includes("${")) return NOBODY;
  for (const channel of registry.usable.values()) {
    // Whoever only says who he is could have another one's code.
    if (!channel.descriptor.senderVerified) continue;
    const section = sectionOf(config, channel);
    const instance = instancesIn(channel, section)
      .find(({ runtimeName }) => runtimeName === asked.runtimeName);
    if (instance?.enabled !== true) continue;
    const { values } = readSection(instance.section, channel.descriptor);
    const { allowFrom, pairing = config.channels.pairing } = values;
    if (!Array.isArray(allowFrom)) return NOBODY;
    if (allowFrom.includes("*") || allowFrom.includes(asked.senderId)) return { isAllowed: true };
    if (pairing === "off" || pairing === "first" && allowFrom.length > 0) return NOBODY;
    const { instanceId } = instance;
    const name = channel.descriptor.name;
    const stranger = { ...asked, channel: name, ...instanceId !== undefined && { instanceId } };
    return { isAllowed: false, stranger };
  }
  return NOBODY;
}

/** Of a section that is malformed none, which is told where it is to start. */
function instancesIn(channel: UsableChannel, section: Parameters<typeof instancesOf>[1]) {
  try {
    return instancesOf(channel, section);
  } catch {
    return [];
  }
}
