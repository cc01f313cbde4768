/**
 * The section of a channel changed in the file, as an editor does it: the old file or the new one, never a
 * half.
 *
 * @module
 */

import type { TestHome } from "./home.ts";

/** Resolves when it is written; the service sees it by itself. */
export async function editSection(
  { dir }: Pick<TestHome, "dir">,
  name: string,
  change: (section: Record<string, unknown>) => unknown,
): Promise<void> {
  const path = `${dir}/home/config.json`;
  const config = JSON.parse(await Deno.readTextFile(path));
  config.channels[name] = change(config.channels[name]);
  await Deno.writeTextFile(`${path}.new`, JSON.stringify(config, null, 2));
  await Deno.rename(`${path}.new`, path);
}
