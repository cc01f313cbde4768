/**
 * Text that every provider can read.
 *
 * @module
 */

/**
 * The same JSON value with every lone surrogate in its strings (keys included) replaced by U+FFFD.
 * JSON writes one as an escape that strict parsers refuse, and the whole request with it.
 */
export function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key.toWellFormed(), wellFormed(one)]),
  );
}
