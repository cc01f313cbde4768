/**
 * The real path of what may not exist yet.
 *
 * @module
 */

/**
 * The path with every symbolic link resolved, as far as it exists; the rest is appended. Throws what
 * `Deno.realPathSync` throws for anything but a missing file.
 */
export function realPathOf(path: string): string {
  let missing = "";
  for (let existing = path;;) {
    try {
      return Deno.realPathSync(existing).replace(/[/\\]$/, "") + missing || "/";
    } catch (error) {
      const cut = Math.max(existing.lastIndexOf("/"), existing.lastIndexOf("\\"));
      if (!(error instanceof Deno.errors.NotFound) || cut < 0) throw error;
      missing = existing.slice(cut) + missing;
      existing = cut === 0 ? "/" : existing.slice(0, cut);
    }
  }
}
