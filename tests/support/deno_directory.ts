/**
 * A folder of Deno's with the packages of this machine, but some.
 *
 * @module
 */

import { assert } from "@std/assert";

/** Makes it at a path; what is there stays untouched. */
export async function denoDirectory(path: string, without: readonly string[]): Promise<void> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  const { npmCache } = JSON.parse(new TextDecoder().decode(stdout)) as { npmCache: string };
  await Deno.mkdir(path, { recursive: true });
  // As links to the same files, which takes no room; a copy where the disk is another one.
  if (!await copy("-al", npmCache, path)) assert(await copy("-a", npmCache, path));
  for await (const registry of Deno.readDir(`${path}/npm`)) {
    for (const name of without) {
      await Deno.remove(`${path}/npm/${registry.name}/${name}`, { recursive: true });
    }
  }
}

async function copy(how: string, from: string, to: string): Promise<boolean> {
  const { success } = await new Deno.Command("cp", {
    args: [how, from, `${to}/npm`],
    stderr: "null",
  }).output();
  if (!success) await Deno.remove(`${to}/npm`, { recursive: true }).catch(() => {});
  return success;
}
