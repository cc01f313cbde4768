/**
 * A folder of Deno's with some of this machine's packages.
 *
 * @module
 */

import { assert } from "@std/assert";
import { dirname } from "@std/path";
import { findOwnDenoDir } from "../../lib/packages/deno_dir.ts";
import { packageFolder, registriesIn } from "../../lib/packages/missing_packages.ts";

/** Deno's folder on this machine. */
export const DENO_DIR: string = findOwnDenoDir((name) => Deno.env.get(name))!;

/** Where a package is on this machine. Throws where it is missing: `deno task test` fetches all. */
export function folderOf(id: string): string {
  const folder = packageFolder(id, registriesIn(DENO_DIR));
  assert(folder !== undefined, `${id} is not in ${DENO_DIR}`);
  return folder;
}

/** Makes it at a path, with packages such as `zod@4.6.7`; what is there stays untouched. */
export async function denoDirectory(path: string, packages: readonly string[]): Promise<void> {
  for (const id of packages) {
    const from = folderOf(id);
    const to = `${path}${from.slice(DENO_DIR.length)}`;
    await Deno.mkdir(dirname(to), { recursive: true });
    await linkTree(from, to);
  }
}

/** As links to the same files, which takes no room; copied where the disk is another one. */
async function linkTree(from: string, to: string): Promise<void> {
  await Deno.mkdir(to);
  const entries = await Array.fromAsync(Deno.readDir(from));
  await Promise.all(entries.map(async ({ name, isDirectory, isSymlink }) => {
    const [source, target] = [`${from}/${name}`, `${to}/${name}`];
    if (isDirectory) return await linkTree(source, target);
    if (isSymlink) return await Deno.symlink(await Deno.readLink(source), target);
    await Deno.link(source, target).catch(() => Deno.copyFile(source, target));
  }));
}
