/**
 * A section as it may be shown: values without secrets, and which fields have one of their own.
 *
 * @module
 */

import { withoutCredentials } from "../../base/without_credentials.ts";
import type { ChannelDescriptor } from "../descriptor.ts";
import type { Section } from "../management.ts";
import { canonicalSection } from "./canonical_section.ts";
import { sectionFields } from "./common_fields.ts";
import { missingRequirements } from "./missing_requirements.ts";
import { readSection } from "./read_section.ts";

export interface SectionView {
  /** Every requirement is met, and nothing is wrong. */
  configured: boolean;
  /** What is missing, each in words such as `token, or tokenFile`. */
  missing: string[];
  /** What is wrong with it, for people. */
  problems: string[];
  /**
   * By field. References stand there as they are written; secrets not at all, also not those that stand
   * in a URL.
   */
  configValues: Record<string, unknown>;
  configuredFields: string[];
}

/** `section` with its references replaced, `written` as the file has it. */
export function sectionView(
  section: Section,
  written: Section,
  descriptor: Pick<ChannelDescriptor, "setup" | "defaultActivation">,
): SectionView {
  const fields = sectionFields(descriptor);
  const { values, own, problems } = readSection(section, descriptor, written);
  const raw = canonicalSection(written, Object.keys(fields)).section;
  const configValues: Record<string, unknown> = {};
  for (const [name, { kind }] of Object.entries(fields)) {
    if (kind === "secret") continue;
    const stored = Object.hasOwn(raw, name) ? raw[name] : undefined;
    const value = holdsReference(stored) ? stored : values[name];
    if (value !== undefined) configValues[name] = shownValue(value);
  }
  const missing = missingRequirements(values, descriptor.setup.required);
  return {
    configured: missing.length === 0 && problems.length === 0,
    missing,
    problems: problems.map(({ message }) => message),
    configValues,
    configuredFields: own.filter((name) => values[name] !== ""),
  };
}

/** A value that is no secret, without the names, passwords and keys that stand in its URLs. */
export function shownValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shownValue);
  return typeof value === "string" ? withoutCredentials(value) : value;
}

/** What a variable or a kept secret stands for is not for whoever may see settings. */
function holdsReference(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsReference);
  return typeof value === "string" && /\$\{/.test(value);
}
