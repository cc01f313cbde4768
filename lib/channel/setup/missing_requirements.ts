/**
 * What has to be set before a channel can start.
 *
 * @module
 */

import type { SetupRequirement } from "../descriptor.ts";

/** Each requirement that is not met, in words such as `token, or tokenFile`. */
export function missingRequirements(
  values: Readonly<Record<string, unknown>>,
  required: readonly SetupRequirement[],
): string[] {
  return required.filter(({ fields }) => !fields.some((name) => isSet(values, name)))
    .map(({ fields }) => fields.join(", or "));
}

/** Whether a field has a value: blanks and empty lists are none, false and 0 are. */
function isSet(values: Readonly<Record<string, unknown>>, name: string): boolean {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (typeof value === "string") return value.trim() !== "";
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
}
