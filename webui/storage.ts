/**
 * What this browser keeps. Where storage is off or full, nothing is kept and nothing breaks.
 *
 * @module
 */

/** What was kept under a name. */
export function kept(name: string, storage: Storage = localStorage): string | undefined {
  try {
    return storage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a text under a name; undefined forgets it. */
export function keep(
  name: string,
  text: string | undefined,
  storage: Storage = localStorage,
): void {
  try {
    if (text === undefined) storage.removeItem(name);
    else storage.setItem(name, text);
  } catch {
    // See above.
  }
}
