/**
 * What the registry says to parts that load no channel: which fields are secrets, and the sections of a
 * first configuration.
 *
 * @module
 */

import type { ChannelSecrets } from "../config/redact.ts";
import type { ChannelDescriptor } from "../channel/descriptor.ts";
import type { Section } from "../channel/management.ts";
import { COMMON_FIELDS, defaultOf, sectionFields } from "../channel/setup/common_fields.ts";
import type { ChannelRegistry, UsableChannel } from "./channel_registry.ts";

/** Of each channel whose manifest can be read, whether a field is a secret. */
export function channelSecrets({ usable }: Pick<ChannelRegistry, "usable">): ChannelSecrets {
  return Object.fromEntries(
    [...usable].map(([name, { descriptor }]) => [
      name,
      Object.fromEntries(
        Object.entries(sectionFields(descriptor)).map(([field, { kind }]) => [
          field,
          kind === "secret",
        ]),
      ),
    ]),
  );
}

/**
 * The section of each channel with every default in it. Flags are left out: those for all
 * channels count then. A channel whose adapter fails has the defaults of its contract.
 */
export function defaultSections(
  { usable }: Pick<ChannelRegistry, "usable">,
): Record<string, Section> {
  return Object.fromEntries(
    [...usable].map(([name, channel]) => [name, defaultSection(channel)]),
  );
}

function defaultSection({ descriptor, adapter }: UsableChannel): Section {
  const own = contractDefaults(descriptor);
  if (adapter?.defaultConfig === undefined) return own;
  try {
    const { enabled: _, ...more } = adapter.defaultConfig();
    return { ...own, ...JSON.parse(JSON.stringify(more)) };
  } catch {
    return own;
  }
}

function contractDefaults({ setup, defaultActivation }: ChannelDescriptor): Section {
  const section: Record<string, unknown> = {
    enabled: defaultActivation,
    allowFrom: defaultOf(COMMON_FIELDS.allowFrom),
    streaming: defaultOf(COMMON_FIELDS.streaming),
  };
  for (const [name, field] of Object.entries(setup.fields)) {
    const isInherited = Object.hasOwn(COMMON_FIELDS, name) && !Object.hasOwn(section, name);
    const usual = defaultOf(field);
    if (!isInherited && name !== "enabled" && usual !== undefined) section[name] = usual;
  }
  return section;
}
