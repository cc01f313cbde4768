/**
 * Keeps a change over the port from sending a secret to another place than whoever gave it meant.
 *
 * @module
 */

import type { Section } from "../../channel/management.ts";
import { misdirectedSecret } from "../../channel/management/misdirected_secret.ts";
import type { UsableChannel } from "../../registry/channel_registry.ts";
import { readSection } from "../../channel/setup/read_section.ts";
import { ServiceError } from "../../base/errors.ts";
import type { PlannedSection } from "./plan_section.ts";
import { instancesIn } from "./section_findings.ts";

/** A change with what was asked for it. */
export interface AskedChange {
  channel: UsableChannel;
  planned: Pick<PlannedSection, "before" | "after">;
  /** Of the request, in either spelling. */
  values: Section;
  /** Runtime name of the instance that the request is about. */
  runtimeName: string;
}

/**
 * Throws `refused` for an address that a stored secret would follow, unless it is given anew, since whoever
 * gives it knows it; and for a secret that is given to one instance and would be taken over by another,
 * which has an address of its own.
 */
export function refuseMoved({ channel, planned, values, runtimeName }: AskedChange): void {
  const { before, after } = planned;
  const given = new Set(secretsOf(channel, values));
  const moved = misdirectedSecret(channel, without(before.resolved, given), after.resolved);
  if (moved !== undefined) {
    throw refused(
      moved.field,
      `${moved.field} would take a secret that is stored for ${moved.runtimeName}, or for another ` +
        "instance, to another place; give the secret anew with it",
    );
  }
  if (given.size === 0 || channel.adapter === undefined) return;
  const instances = instancesIn(channel, after);
  const target = instances.find((one) => one.runtimeName === runtimeName);
  const had = new Map(
    instancesIn(channel, before).map((one) => [one.runtimeName, secretsOf(channel, one.section)]),
  );
  // Each for itself, as if it were the only one.
  const alone = { descriptor: channel.descriptor };
  for (const other of instances) {
    if (target === undefined || other.runtimeName === runtimeName) continue;
    const known = new Set(had.get(other.runtimeName));
    const takes = secretsOf(channel, other.section).some((one) =>
      given.has(one) && !known.has(one)
    );
    const found = takes && misdirectedSecret(alone, target.section, other.section);
    if (!found) continue;
    throw refused(
      found.field,
      `${other.runtimeName} would take the secret over, and has another ${found.field}; give that ` +
        "instance a secret of its own first, or change it at the command line",
    );
  }
}

function secretsOf({ descriptor }: UsableChannel, section: Section): string[] {
  const { values } = readSection(section, descriptor);
  return Object.entries(descriptor.setup.fields).filter(([, { kind }]) => kind === "secret")
    .map(([name]) => values[name])
    .filter((value): value is string => typeof value === "string" && value !== "");
}

/** The section with these texts blank, wherever they stand. */
function without(section: Section, texts: ReadonlySet<unknown>): Section {
  const blank = (value: unknown): unknown => {
    if (texts.has(value)) return "";
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, blank(each)]));
  };
  return blank(section) as Section;
}

function refused(field: string, message: string): ServiceError {
  return new ServiceError("refused", `${message}. Nothing was written`, { param: field });
}
