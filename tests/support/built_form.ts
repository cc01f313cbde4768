/**
 * The built form, for tests of what is made of it.
 *
 * @module
 */

import { dirname } from "@std/path";
import { ROOT } from "./home.ts";

/** Builds the sources into a folder. */
export async function build(folder: string): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", "--cached-only", "--lock=deno.lock", "--frozen"],
      ...["release/build.ts", folder],
    ],
    cwd: ROOT,
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

/** What the whole run has built, in that folder; else it is built there. */
export async function makeBuilt(folder: string): Promise<void> {
  const given = Deno.env.get("SERVICE_TEST_BUILT")?.replace(/\/$/, "");
  if (given === undefined) return await build(folder);
  for (const path of await filesIn(given)) {
    const to = `${folder}${path.slice(given.length)}`;
    await Deno.mkdir(dirname(to), { recursive: true });
    await Deno.copyFile(path, to);
  }
}

/** Paths of all files in a folder. */
export async function filesIn(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  const found = await Promise.all(
    entries.map(({ name, isDirectory }) =>
      isDirectory ? filesIn(`${folder}/${name}`) : [`${folder}/${name}`]
    ),
  );
  return found.flat();
}
