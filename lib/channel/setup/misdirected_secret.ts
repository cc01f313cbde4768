/**
 * Finds a secret that would go somewhere else than it was given for: it stays, while the address that it
 * is sent to changes. Whoever may set a channel up over a port could read every password that way.
 *
 * @module
 */

import type { ChannelDescriptor } from "../descriptor.ts";
import type { Section } from "../management.ts";
import { placeholdersIn } from "../permission_fields.ts";
import { readSection } from "./read_section.ts";

/** Fields that say where something is sent, or how openly, beside those that the permissions name. */
const PLACE = /^(?:host|port|server)$|(?:Host|Port|Server|Url)$|url$|tls|ssl|secure/i;

/**
 * The field that would take a stored secret elsewhere; undefined where each secret is new, or given anew,
 * or no address is another one. References in both are replaced, or in neither.
 */
export function misdirectedSecret(
  before: Section,
  after: Section,
  descriptor: Pick<ChannelDescriptor, "setup" | "defaultActivation" | "permissions">,
): string | undefined {
  const old = readSection(before, descriptor).values;
  const next = readSection(after, descriptor).values;
  const fields = Object.entries(descriptor.setup.fields);
  const keeps = fields.some(([name, { kind }]) =>
    kind === "secret" && old[name] !== "" && old[name] === next[name]
  );
  if (!keeps) return undefined;
  const named = new Set(descriptor.permissions.hosts.flatMap(placeholdersIn));
  return fields.find(([name, { kind }]) =>
    kind !== "secret" && (named.has(name) || PLACE.test(name)) &&
    JSON.stringify(old[name]) !== JSON.stringify(next[name])
  )?.[0];
}
