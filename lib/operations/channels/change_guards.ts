/**
 * What keeps a change of a channel's settings from being made.
 *
 * @module
 */

import type { SetupFinding } from "../../channel/descriptor.ts";
import type { Section } from "../../channel/management.ts";
import type { UsableChannel } from "../../registry/channel_registry.ts";
import { readPatch } from "../../channel/setup/apply_values.ts";
import { sectionFields } from "../../channel/setup/common_fields.ts";
import { readSection } from "../../channel/setup/read_section.ts";
import { formatPath, type KeyPath } from "../../base/key_path.ts";
import { configSchema } from "../../config/schema.ts";
import { nodeAt } from "../../config/schema_tree.ts";
import { ServiceError } from "../../base/errors.ts";
import { isEditable } from "../../settings/editable_keys.ts";
import type { PlannedSection } from "./plan_section.ts";
import { contractFindings, type FoundInstance, instancesIn, isReady } from "./section_findings.ts";

/**
 * What is to be said of instances that are switched on. Throws `invalid_request`, naming what is missing,
 * when none of them could start.
 */
export function switchedOnFindings(
  channel: UsableChannel,
  { after }: Pick<PlannedSection, "after">,
  instanceId: string | undefined,
): SetupFinding[] {
  const on = instancesIn(channel, after).filter((one) =>
    one.enabled && (instanceId === undefined || one.instanceId === instanceId)
  );
  const unready = on.filter((one) => !isReady(channel, one));
  const named = ({ instanceId }: FoundInstance, message: string) =>
    on.length === 1 || instanceId === undefined ? message : `${instanceId}: ${message}`;
  const findings = unready.flatMap((one) =>
    contractFindings(channel, one, "error").map(({ field, message }): SetupFinding => ({
      level: "warning",
      ...field !== undefined && { field },
      message: named(one, message),
    }))
  );
  const { name } = channel.descriptor;
  if (on.length === 0) {
    findings.push({ level: "warning", message: `Every instance of ${name} is switched off` });
  } else if (unready.length === on.length) {
    throw new ServiceError(
      "invalid_request",
      `Cannot enable ${name}: ${findings.map(({ message }) => message).join("; ")}. ` +
        "Nothing was written",
      { param: findings[0]?.field },
    );
  }
  for (const one of on) {
    const { allowFrom } = readSection(one.section, channel.descriptor).values;
    if (!Array.isArray(allowFrom) || allowFrom.length > 0) continue;
    const message = named(one, "allowFrom lists nobody, so nobody is heard");
    findings.push({ level: "warning", field: "allowFrom", message });
  }
  return findings;
}

/** Values that may be set, and what is wrong with the others. Throws for a field that there is not. */
export function sortValues(
  { descriptor }: UsableChannel,
  values: Section,
): { right: Record<string, unknown>; wrong: SetupFinding[] } {
  const fields = sectionFields(descriptor);
  const right: Record<string, unknown> = {};
  const wrong: SetupFinding[] = [];
  for (const [key, value] of Object.entries(values)) {
    try {
      readPatch({ [key]: value }, descriptor);
      right[key] = value;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const { param = "" } = error.details;
      if (!Object.hasOwn(fields, param) || param === "enabled") throw error;
      const message = error.message.replace(/\. Nothing was written$/, "");
      wrong.push({ level: "error", field: param, message });
    }
  }
  return { right, wrong };
}

/** Of a section that the schema knows, the port changes no more than by the routes of the settings. */
export function requireEditable(keys: readonly KeyPath[]): void {
  const closed = keys.find((path) => nodeAt(configSchema, path) !== undefined && !isEditable(path));
  if (closed === undefined) return;
  const name = formatPath(closed);
  throw new ServiceError(
    "refused",
    `${name} has a part in who comes in or what is reached; change it at the command line: ` +
      `service config set ${name}`,
    { param: String(closed.at(-1)) },
  );
}

/** What runs is not taken what it needs. */
export function requireStillReady(channel: UsableChannel, { before, after }: PlannedSection): void {
  const ready = new Set(
    instancesIn(channel, before).filter((one) => one.enabled && isReady(channel, one))
      .map(({ runtimeName }) => runtimeName),
  );
  for (const one of instancesIn(channel, after)) {
    if (!one.enabled || !ready.has(one.runtimeName)) continue;
    const [finding] = contractFindings(channel, one, "error");
    if (finding === undefined) continue;
    throw new ServiceError(
      "invalid_request",
      `${finding.message}, and ${one.runtimeName} is switched on: disable it first. ` +
        "Nothing was written",
      { param: finding.field },
    );
  }
}
