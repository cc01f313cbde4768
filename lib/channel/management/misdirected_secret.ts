/**
 * Finds a secret that would go somewhere else than it was given for: it stays, or is taken over by another
 * instance, while the address that it is sent to is another one. Whoever may set channels up over a port
 * could read every password that way.
 *
 * @module
 */

import type { ChannelDescriptor } from "../descriptor.ts";
import type { ManagementAdapter, Section } from "../management.ts";
import { placeholdersIn } from "../permission_fields.ts";
import { readSection } from "../setup/read_section.ts";
import { instancesOf } from "./instances_of.ts";

/** A channel, as far as its secrets go by it. */
export interface SecretHolder {
  descriptor: Pick<ChannelDescriptor, "name" | "setup" | "defaultActivation" | "permissions">;
  adapter?: ManagementAdapter;
}

/** The field that would take a secret elsewhere, and whose it is. */
export interface Misdirection {
  runtimeName: string;
  field: string;
}

/** Fields that say where something is sent, or how openly, beside those that the permissions name. */
const PLACE = /^(?:host|port|server)$|(?:Host|Port|Server|Url)$|url$|tls|ssl|secure/i;

interface Held {
  runtimeName: string;
  secrets: ReadonlySet<string>;
  /** By field. */
  places: Readonly<Record<string, string>>;
}

/**
 * The first one that there is; undefined where each secret is new, or given anew, or goes where it went.
 * References in both sections are replaced, or in neither. Throws as `instancesOf`.
 */
export function misdirectedSecret(
  channel: SecretHolder,
  before: Section,
  after: Section,
): Misdirection | undefined {
  const old = heldBy(channel, before);
  for (const { runtimeName, secrets, places } of heldBy(channel, after)) {
    for (const secret of secrets) {
      const holders = old.filter((each) => each.secrets.has(secret));
      if (holders.length === 0) continue;
      const differing = holders.map((each) =>
        Object.keys(places).find((field) => each.places[field] !== places[field])
      );
      const [field] = differing;
      if (field !== undefined && !differing.includes(undefined)) return { runtimeName, field };
    }
  }
  return undefined;
}

function heldBy(channel: SecretHolder, section: Section): Held[] {
  const { setup, permissions } = channel.descriptor;
  const named = new Set(permissions.hosts.flatMap(placeholdersIn));
  const fields = Object.entries(setup.fields);
  return instancesOf(channel, section).map((instance) => {
    const { values } = readSection(instance.section, channel.descriptor);
    const secrets = fields.filter(([, { kind }]) => kind === "secret")
      .map(([name]) => values[name])
      .filter((value): value is string => typeof value === "string" && value !== "");
    const places = fields.filter(([name, { kind }]) =>
      kind !== "secret" && (named.has(name) || PLACE.test(name))
    ).map(([name]) => [name, JSON.stringify(values[name] ?? null)]);
    return {
      runtimeName: instance.runtimeName,
      secrets: new Set(secrets),
      places: Object.fromEntries(places),
    };
  });
}
