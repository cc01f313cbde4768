/**
 * Small files of state: after a crash the old one is there or the new one, and never a half.
 *
 * @module
 */

/** Writes JSON in place of what was there. */
export async function writeState(path: string, value: unknown): Promise<void> {
  const next = `${path}.new`;
  using file = await Deno.open(next, { write: true, create: true, truncate: true, mode: 0o600 });
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
  await file.syncData();
  await Deno.rename(next, path);
}

/** What stands there; undefined where nothing does. Rejects with a SyntaxError for what is no JSON. */
export async function readState(path: string): Promise<unknown> {
  try {
    return JSON.parse(await Deno.readTextFile(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
