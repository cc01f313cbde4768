/**
 * A package's check of its settings as the service runs it, without the process of its own.
 *
 * @module
 */

import type { ChannelDescriptor, SetupFinding, SetupValidator } from "../descriptor.ts";
import { error } from "../setup/findings.ts";
import { hostFindings } from "../setup/host_findings.ts";
import { readSection } from "../setup/read_section.ts";

/** What is found in a section: by its contract, in its hosts, and by the package. */
export async function checkSection(
  { descriptor, validate }: { descriptor: ChannelDescriptor; validate?: SetupValidator },
  section: Readonly<Record<string, unknown>>,
  { allowLocal = true, signal = new AbortController().signal }: {
    allowLocal?: boolean;
    signal?: AbortSignal;
  } = {},
): Promise<SetupFinding[]> {
  const { values, problems } = readSection(section, descriptor, section);
  if (problems.length > 0) return problems.map(({ field, message }) => error(field, message));
  const hosts = hostFindings(descriptor, values, allowLocal);
  if (hosts.some(({ level }) => level === "error")) return hosts;
  const context = { allowLocalServiceAccess: allowLocal, signal };
  return [...hosts, ...await validate?.(values, context) ?? []];
}
