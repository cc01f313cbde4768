/**
 * What is wrong with the servers that a section names: the same for every channel.
 *
 * @module
 */

import type { ChannelDescriptor, SetupFinding } from "../descriptor.ts";
import { placeholdersIn } from "../permission_fields.ts";
import { error, isLocalHost, warning } from "./findings.ts";

/** Looks at fields with a `format` that stand in `permissions.hosts`. `values`: as the contract reads them. */
export function hostFindings(
  { setup: { fields }, permissions }: Pick<ChannelDescriptor, "setup" | "permissions">,
  values: Readonly<Record<string, unknown>>,
  allowLocal: boolean,
): SetupFinding[] {
  const named = new Set(permissions.hosts.flatMap(placeholdersIn));
  return [...named].flatMap((name) => {
    const field = fields[name];
    const value = values[name];
    if (field?.kind !== "string" || field.format === undefined || !value) return [];
    const url = field.format === "url" ? new URL(String(value)) : undefined;
    const isLocal = isLocalHost(url?.hostname ?? String(value));
    if (isLocal && !allowLocal) {
      return [error(
        name,
        `${name} names this machine or its network, and channels.allowLocalServiceAccess is off`,
      )];
    }
    if (isLocal || url?.protocol !== "http:") return [];
    return [warning(
      name,
      `${name} is not encrypted: whoever is on the way reads what is sent, and the secrets of this channel`,
    )];
  });
}
