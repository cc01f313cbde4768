/**
 * What a channel's section says, held against the contract: values with their defaults, and everything
 * that is wrong.
 *
 * @module
 */

import { withoutCredentials } from "../../base/without_credentials.ts";
import type { ChannelDescriptor } from "../descriptor.ts";
import type { Section } from "../management.ts";
import { canonicalSection } from "./canonical_section.ts";
import { defaultOf, FLAG_FIELDS, sectionFields } from "./common_fields.ts";
import { parseValue } from "./parse_value.ts";

/** Something that keeps a channel from starting. */
export interface FieldProblem {
  field: string;
  /** Such as `port is "x": expected an integer from 1 to 65535`. Holds no secret. */
  message: string;
}

export interface ReadSection {
  /** By field, in camelCase. Flags, integers and choices that are not set are absent. */
  values: Record<string, unknown>;
  /** Fields whose value the section itself gives. */
  own: string[];
  problems: FieldProblem[];
  /** Keys that no field is named by, as they are written. */
  unknown: string[];
}

/** Fields that are absent where nothing is set: what is set for all channels counts then. */
const INHERITED: readonly string[] = [...FLAG_FIELDS, "sendMaxRetries", "catchUpS", "pairing"];

/**
 * Reads a section whose references are replaced. `written` is the same before that: what stands there may
 * be shown in a message, and the value of a variable may not.
 */
export function readSection(
  section: Section,
  descriptor: Pick<ChannelDescriptor, "setup" | "defaultActivation">,
  written?: Section,
): ReadSection {
  const fields = sectionFields(descriptor);
  const names = Object.keys(fields);
  const canonical = canonicalSection(section, names);
  const shown = written && canonicalSection(written, names).section;
  const values: Record<string, unknown> = {};
  const own: string[] = [];
  const problems: FieldProblem[] = canonical.twice.map((field) => ({
    field,
    message: `${field} stands there in two spellings`,
  }));
  for (const [name, field] of Object.entries(fields)) {
    const given = Object.hasOwn(canonical.section, name) ? canonical.section[name] : undefined;
    const parsed = given === undefined || given === null
      ? { value: undefined }
      : name === "allowFrom" && !Array.isArray(given)
      // Who may write is never guessed from what may be a slip.
      ? { expected: "a list of texts" }
      : parseValue(field, given);
    if ("expected" in parsed) {
      const value = field.kind === "secret" ? "what it is" : describe(given, shown?.[name]);
      problems.push({ field: name, message: `${name} is ${value}: expected ${parsed.expected}` });
      continue;
    }
    if (parsed.value !== undefined) {
      own.push(name);
      values[name] = parsed.value;
      continue;
    }
    const usual = name === "enabled"
      ? descriptor.defaultActivation
      : INHERITED.includes(name)
      ? undefined
      : defaultOf(field);
    if (usual !== undefined) values[name] = usual;
  }
  return { values, own, problems, unknown: canonical.unknown };
}

/** Most characters of a value in a message. */
const MAX_SHOWN = 60;

/** A value for a message; a text as it is written, where that is known. */
export function describe(value: unknown, written: unknown): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "string") return Array.isArray(value) ? "a list" : "an object";
  if (typeof written !== "string") return "a text";
  const safe = withoutCredentials(written);
  return JSON.stringify(safe.length > MAX_SHOWN ? `${safe.slice(0, MAX_SHOWN)}…` : safe);
}
