/**
 * A section's keys in camelCase: the configuration is read in camelCase and snake_case.
 *
 * @module
 */

import { canonicalKey } from "../../base/spelling.ts";
import type { Section } from "../management.ts";

/** A section in the contract's own spelling. */
export interface CanonicalSection {
  /** Keys that the contract does not name are there as they are written. */
  section: Record<string, unknown>;
  /** Keys that the contract does not name. */
  unknown: string[];
  /** Fields that stand there in both spellings; the first one counts. */
  twice: string[];
}

/** Renames what is known, and leaves everything else and the order as they are. */
export function canonicalSection(section: Section, known: readonly string[]): CanonicalSection {
  const entries = new Map<string, unknown>();
  const unknown: string[] = [];
  const twice: string[] = [];
  for (const [written, value] of Object.entries(section)) {
    const key = canonicalKey(written, known);
    if (key === undefined) unknown.push(written);
    if (entries.has(key ?? written)) twice.push(key ?? written);
    else entries.set(key ?? written, value);
  }
  return { section: Object.fromEntries(entries), unknown, twice };
}
