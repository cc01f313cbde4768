/**
 * Which packages are not on this machine.
 *
 * @module
 */

/**
 * Those of `<name>@<version>` that are in no registry's folder of Deno's cache.
 * Looks at each folder: a note of what was fetched would outlive a cache that was cleaned up.
 */
export function missingPackages(ids: readonly string[], denoDir: string): string[] {
  const registries = registriesIn(denoDir);
  return ids.filter((id) => packageFolder(id, registries) === undefined);
}

/** Folders of registries in Deno's cache. */
export function registriesIn(denoDir: string): string[] {
  const root = `${denoDir}/npm`;
  try {
    return [...Deno.readDirSync(root)]
      .filter(({ isDirectory }) => isDirectory).map(({ name }) => `${root}/${name}`);
  } catch {
    // Where it can't be read, fetching says why.
    return [];
  }
}

/** Where a package is. Deno moves a folder there when all of the package is in it. */
export function packageFolder(id: string, registries: readonly string[]): string | undefined {
  const [, name, version] = /^(.+)@([^@]+)$/.exec(id) ?? [];
  if (name === undefined) return undefined;
  return registries.map((registry) => `${registry}/${name}/${version}`).find(isFolder);
}

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}
