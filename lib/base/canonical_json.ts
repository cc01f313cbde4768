/**
 * One text for one value, so that digests of it can be compared: keys in code unit order, nothing
 * left out but what is undefined.
 *
 * @module
 */

/** The value as JSON with sorted keys. Lone surrogates are escaped, as JSON.stringify does. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map((item) => canonicalJson(item ?? null)).join(",")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    entries.sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0);
    return `{${
      entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(",")
    }}`;
  }
  return JSON.stringify(value) ?? "null";
}
