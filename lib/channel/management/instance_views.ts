/**
 * Instances as a settings page shows them: how they are configured without a secret, and how they are
 * called.
 *
 * @module
 */

import { ServiceError } from "../../base/errors.ts";
import type { Section } from "../management.ts";
import { type SectionView, sectionView } from "../setup/section_view.ts";
import { call, frozen, instancesOf, isObject, type ManagedChannel } from "./instances_of.ts";

/** How an instance is shown, and nothing of how it is. */
export interface Presentation {
  name?: string;
  displayName?: string;
  avatarUrl?: string;
}

export interface InstanceView extends SectionView, Presentation {
  /** `default` for a channel that has one instance. */
  id: string;
  runtimeName: string;
  enabled: boolean;
}

const MAX_SHOWN_CHARS = 2_048;

/**
 * Every instance, `section` with its references replaced and `written` as the file has it. Throws
 * `config_invalid` for what breaks an invariant.
 */
export function instanceViews(
  channel: ManagedChannel,
  section: Section,
  written: Section,
): InstanceView[] {
  const asWritten = new Map(
    instancesOf(channel, written).map((one) => [one.instanceId, one.section]),
  );
  const shown = presentations(channel, section);
  return instancesOf(channel, section).map((
    { instanceId, runtimeName, enabled, section: own },
  ) => ({
    // Before everything that says how it is, so that nothing of it can be overridden.
    ...shown.get(instanceId ?? "default"),
    ...sectionView(own, asWritten.get(instanceId) ?? {}, channel.descriptor),
    id: instanceId ?? "default",
    runtimeName,
    enabled,
  }));
}

/** What the adapter says of names and pictures, by instance. */
function presentations(
  { descriptor: { name }, adapter }: ManagedChannel,
  section: Section,
): Map<string, Presentation> {
  const shown = new Map<string, Presentation>();
  if (adapter?.featureInstances === undefined) return shown;
  const given: unknown = call(
    name,
    "featureInstances",
    () => adapter.featureInstances!(frozen(section)),
  );
  if (given === undefined || given === null) return shown;
  if (!Array.isArray(given)) throw fault(name, "gives no list");
  for (const one of given) {
    if (!isObject(one) || typeof one.id !== "string") throw fault(name, "gives one without an id");
    const { id, ...rest } = one;
    for (const [key, value] of Object.entries(rest)) {
      if (!["name", "displayName", "avatarUrl"].includes(key)) {
        throw fault(
          name,
          `gives ${JSON.stringify(id.slice(0, 80))} the key ${JSON.stringify(key.slice(0, 80))}: ` +
            "expected id, name, displayName and avatarUrl alone",
        );
      }
      if (value !== undefined && (typeof value !== "string" || value.length > MAX_SHOWN_CHARS)) {
        throw fault(
          name,
          `gives a ${key} that is no text of at most ${MAX_SHOWN_CHARS} characters`,
        );
      }
      if (key === "avatarUrl" && value !== undefined && !/^https?:\/\//.test(value)) {
        throw fault(name, "gives an avatarUrl that does not begin with https:// or http://");
      }
    }
    shown.set(id, rest);
  }
  return shown;
}

function fault(name: string, what: string): ServiceError {
  return new ServiceError(
    "config_invalid",
    `Cannot use channels.${name}: featureInstances of its adapter ${what}`,
    { param: `channels.${name}` },
  );
}
