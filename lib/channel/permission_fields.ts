/**
 * `{field}` in the permissions of a manifest: the value that the section has for that field.
 *
 * @module
 */

/** Names of the fields that stand in an entry. */
export function placeholdersIn(entry: string): string[] {
  return [...entry.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!);
}

/**
 * The entry for each item of a list that stands in it, else once; none where a value is empty. Throws
 * RangeError for more than one list.
 */
export function fillEntry(entry: string, values: Readonly<Record<string, unknown>>): string[] {
  const names = placeholdersIn(entry);
  const lists = names.filter((name) => Array.isArray(values[name]));
  if (lists.length > 1) throw new RangeError(`"${entry}" holds more than one list`);
  const [list] = lists;
  const items = list === undefined ? [undefined] : values[list] as unknown[];
  return items.flatMap((item) => {
    const parts = names.map((name) => textOf(name === list ? item : values[name]));
    if (parts.some((part) => part === "")) return [];
    let at = 0;
    return [entry.replace(/\{[^{}]*\}/g, () => parts[at++]!)];
  });
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.trim() : typeof value === "number" ? String(value) : "";
}
