/**
 * What a settings request makes of a stored section.
 *
 * @module
 */

import { ServiceError } from "../../base/errors.ts";
import { nearestKey } from "../../config/nearest.ts";
import type { ChannelDescriptor, SetupField } from "../descriptor.ts";
import type { Section } from "../management.ts";
import { canonicalSection } from "./canonical_section.ts";
import { sectionFields } from "./common_fields.ts";
import { parseValue } from "./parse_value.ts";
import { describe } from "./read_section.ts";
import { shownValue } from "./section_view.ts";

/** Shown in the place of a secret; sent back, it keeps what is stored. */
const HIDDEN = "********";

/** Changes of a section by field, in camelCase. Null takes the key out; a secret that stays is absent. */
export type SectionPatch = Readonly<Record<string, unknown>>;

/**
 * Checks the values of a request. Throws `invalid_request` that names the field, for one outside of the
 * contract too; `enabled` is none of them, as that has its own requests. A value stands for itself:
 * references to the environment and to secrets are for whoever writes the file.
 */
export function readPatch(
  values: Readonly<Record<string, unknown>>,
  descriptor: Pick<ChannelDescriptor, "name" | "setup">,
): SectionPatch {
  const { enabled: _, ...fields } = sectionFields(descriptor);
  const known = Object.keys(fields);
  const { section, unknown, twice } = canonicalSection(values, known);
  for (const name of unknown) throw unknownField(name, descriptor.name, known);
  for (const name of twice) throw invalid(name, `${name} stands there in two spellings`);
  const patch: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(section)) {
    const change = readValue(name, fields[name]!, value);
    if (change !== undefined) patch[name] = change;
  }
  return patch;
}

/**
 * The patch without values that are what is shown of those that are stored: whoever sends a page of
 * settings back means to change nothing about them.
 */
export function withoutShown(
  patch: SectionPatch,
  stored: Section,
  descriptor: Pick<ChannelDescriptor, "setup">,
): SectionPatch {
  const { section } = canonicalSection(stored, Object.keys(sectionFields(descriptor)));
  return Object.fromEntries(
    Object.entries(patch).filter(([name, value]) => {
      if (!Object.hasOwn(section, name)) return true;
      const shown = JSON.stringify(shownValue(section[name]));
      return shown === JSON.stringify(section[name]) || shown !== JSON.stringify(value);
    }),
  );
}

/** The section with a patch in place; keys that the contract names are in camelCase then. */
export function applyPatch(
  stored: Section,
  patch: SectionPatch,
  descriptor: Pick<ChannelDescriptor, "setup">,
): Record<string, unknown> {
  const { section } = canonicalSection(stored, Object.keys(sectionFields(descriptor)));
  const entries = new Map(Object.entries(section));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) entries.delete(name);
    else if (value !== undefined) entries.set(name, value);
  }
  return Object.fromEntries(entries);
}

/** What is to be stored; null for nothing, undefined for what is there. */
function readValue(name: string, field: SetupField, value: unknown): unknown {
  if (value === null) return null;
  if (value === undefined) return undefined;
  const secret = field.kind === "secret";
  if (secret && typeof value === "string" && (value.trim() === "" || value === HIDDEN)) {
    return undefined;
  }
  const parsed = parseValue(field, value);
  if ("expected" in parsed) {
    const shown = secret ? "what it is" : describe(value, value);
    throw invalid(name, `${name} is ${shown}: expected ${parsed.expected}`);
  }
  if (textsOf(parsed.value).some((text) => text.includes("${"))) {
    throw invalid(
      name,
      `${name} takes no reference such as \${NAME} from here; write it in the configuration, with ` +
        "service config set",
    );
  }
  return parsed.value ?? null;
}

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.flatMap(textsOf) : [];
}

function unknownField(name: string, channel: string, known: readonly string[]): ServiceError {
  const shown = JSON.stringify(name.slice(0, 80));
  if (name === "enabled") {
    return invalid(name, `"enabled" is not set with values: enable or disable ${channel} instead`);
  }
  const near = nearestKey(name, known);
  return invalid(
    name.slice(0, 80),
    `${shown} is no field of channels.${channel}${
      near === undefined ? `; fields are ${known.join(", ")}` : `; did you mean ${near}?`
    }`,
  );
}

function invalid(param: string, message: string): ServiceError {
  return new ServiceError("invalid_request", `${message}. Nothing was written`, { param });
}
