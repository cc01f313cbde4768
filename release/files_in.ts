/**
 * @module
 */

/** All files and folders in a folder, relative, in a fixed order: a folder before what is in it. */
export async function filesIn(
  root: string,
  below = "",
): Promise<{ path: string; isFolder: boolean }[]> {
  const entries = await Array.fromAsync(Deno.readDir(`${root}/${below}`));
  const sorted = entries.toSorted((a, b) => a.name < b.name ? -1 : 1);
  const found = await Promise.all(sorted.map(async ({ name, isDirectory }) => {
    const path = `${below}${name}`;
    const inside = isDirectory ? await filesIn(root, `${path}/`) : [];
    return [{ path, isFolder: isDirectory }, ...inside];
  }));
  return found.flat();
}
