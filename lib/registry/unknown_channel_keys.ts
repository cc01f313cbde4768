/**
 * Keys in sections of channels that no contract names: they are kept and have no effect, so somebody is to
 * hear of them.
 *
 * @module
 */

import { nearestKey } from "../config/nearest.ts";
import { instancesOf } from "../channel/management/instances_of.ts";
import { sectionFields } from "../channel/setup/common_fields.ts";
import { readSection } from "../channel/setup/read_section.ts";
import type { UsableChannel } from "./channel_registry.ts";
import { type ConfiguredChannels, sectionOf } from "./worker_source_of.ts";

/** Keys that are named for one section; more are hardly a slip. */
const MAX_NAMED = 20;

/** One line each, such as `channels.chat.colour is no field; did you mean channels.chat.color?`. */
export function unknownChannelKeys(
  { registry, config }: Pick<ConfiguredChannels, "registry" | "config">,
): string[] {
  return [...registry.usable.values()]
    // The schema of the configuration judges those of the service's own.
    .filter(({ descriptor }) => !descriptor.capabilities.includes("in_service"))
    .flatMap((channel) => [...new Set(unknownIn(channel, config))]);
}

function unknownIn(channel: UsableChannel, config: ConfiguredChannels["config"]): string[] {
  const { descriptor } = channel;
  const known = Object.keys(sectionFields(descriptor));
  let sections;
  try {
    // Keys of the adapter's own are no part of what its instances are given.
    sections = instancesOf(channel, sectionOf(config, channel)).map(({ section }) => section);
  } catch {
    return [];
  }
  return sections.flatMap((section) =>
    readSection(section, descriptor).unknown.slice(0, MAX_NAMED).map((key) => {
      const near = nearestKey(key, known);
      const at = `channels.${descriptor.name}`;
      return `${at}.${key.slice(0, 80)} is no field${
        near === undefined ? "" : `; did you mean ${at}.${near}?`
      }`;
    })
  );
}
