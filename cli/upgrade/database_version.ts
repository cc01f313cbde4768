/**
 * Of which version the database of a home is, read without opening it: another process may have it open,
 * or another user own it.
 *
 * @module
 */

/** Where SQLite keeps `user_version` in a file (https://www.sqlite.org/fileformat.html, 1.3.13). */
const USER_VERSION_AT = 60;

/** Undefined where there is no database, or one that is none. */
export async function databaseVersion(path: string): Promise<number | undefined> {
  try {
    using file = await Deno.open(path);
    const header = new Uint8Array(USER_VERSION_AT + 4);
    for (let at = 0; at < header.length;) {
      const read = await file.read(header.subarray(at));
      if (read === null) return undefined;
      at += read;
    }
    return new DataView(header.buffer).getUint32(USER_VERSION_AT);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
