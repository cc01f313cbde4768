/**
 * What crashes and damage leave beside a file.
 *
 * @module
 */

/** Removes what writes of these files left that did not end. Nobody may be writing them. */
export async function removeTemporaries(dir: string, names: readonly string[]): Promise<void> {
  for await (const entry of Deno.readDir(dir)) {
    const [, name] = /^(.+)\.[0-9a-f]{8}\.tmp$/.exec(entry.name) ?? [];
    if (name === undefined || !names.includes(name)) continue;
    // What cannot be removed is no reason not to start.
    await Deno.remove(`${dir}/${entry.name}`).catch(() => {});
  }
}

/** Moves what is at a path out of the way, and says to where; undefined when nothing is there. */
export async function setAside(path: string, now: number): Promise<string | undefined> {
  for (let count = 0;; count++) {
    const aside = `${path}.damaged-${now}${count === 0 ? "" : `-${count}`}`;
    if (await exists(aside)) continue;
    try {
      await Deno.rename(path, aside);
      return aside;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
  }
}

/** Takes a file from others that somebody gave it to. */
export async function makePrivate(path: string): Promise<void> {
  if (Deno.build.os === "windows") return;
  const { mode } = await Deno.lstat(path);
  if (mode !== null && (mode & 0o077) !== 0) await Deno.chmod(path, 0o600);
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}
