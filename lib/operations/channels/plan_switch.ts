/**
 * From the text of the configuration to the one with a channel, or one instance, switched on or off. What
 * is broken, or left over, can be switched off all the same.
 *
 * @module
 */

import type { SetupFinding } from "../../channel/descriptor.ts";
import type { Section } from "../../channel/management.ts";
import { switchSection } from "../../channel/management/update_section.ts";
import type { ChannelRegistry, UsableChannel } from "../../registry/channel_registry.ts";
import { strangeSections } from "../../registry/worker_source_of.ts";
import { examine } from "../../settings/examine.ts";
import { switchedOnFindings } from "./change_guards.ts";
import { findChannel, requireKnown } from "./find_channel.ts";
import { type PlannedSection, planSection, type PlanSectionInputs } from "./plan_section.ts";

/** What is to be switched. */
export interface SwitchInputs extends Omit<PlanSectionInputs, "edit" | "path"> {
  /** The channel's. */
  name: string;
  registry: ChannelRegistry;
  instanceId?: string;
  enabled: boolean;
}

/** A switch that may be made. */
export interface PlannedSwitch {
  /** Absent for one that only its section is left of, or whose package is broken. */
  channel?: UsableChannel;
  planned: PlannedSection;
  /** Of instances that are on and cannot start. */
  findings: SetupFinding[];
}

/**
 * Throws `not_found`, naming the channels that there are, `config_invalid`, and `invalid_request` for one
 * that cannot be switched on since something is missing.
 */
export function planSwitch(
  { registry, name, instanceId, enabled, ...inputs }: SwitchInputs,
): PlannedSwitch {
  const { text, paths, env } = inputs;
  const channel = registry.usable.get(name);
  if (channel === undefined) {
    if (enabled || instanceId !== undefined) findChannel(registry, name);
    const { config } = examine({ text, paths, env });
    requireKnown(registry, name, config === undefined ? [] : strangeSections({ registry, config }));
  }
  const edit = (section: Section): Section =>
    channel === undefined
      ? { ...section, enabled }
      : switchSection({ channel, section, instanceId, enabled });
  const planned = planSection({ ...inputs, path: ["channels", name], edit });
  const findings = channel !== undefined && enabled
    ? switchedOnFindings(channel, planned, instanceId)
    : [];
  return { channel, planned, findings };
}
