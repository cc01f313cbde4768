/**
 * What Deno keeps of the gateway's code, handed on from home to home: in a home that is new V8 compiles it
 * all, which is two thirds of a start.
 *
 * @module
 */

import { join } from "@std/path";

/** Beside the built form, whose code it is of. `built`: with a slash at its end. */
export function gatewayCacheOf(built: string): string {
  return `${built.slice(0, -1)}.gateway-cache`;
}

/** Gives it to a home that has none, where there is one already. */
export async function giveGatewayCache(kept: string, home: string): Promise<void> {
  const folder = join(home, "run/gateway-cache");
  const owner = await statOf(home);
  if (owner?.uid !== Deno.uid() || await statOf(folder) || !await statOf(kept)) return;
  await Deno.mkdir(join(home, "run"), { recursive: true, mode: 0o700 });
  await copyFolder(kept, folder);
}

/** Keeps that of a home whose service has ended in order, unless there is one already. */
export async function keepGatewayCache(kept: string, home: string): Promise<void> {
  const folder = join(home, "run/gateway-cache");
  if (await statOf(kept) || !await statOf(folder)) return;
  await copyFolder(folder, kept);
}

function statOf(path: string): Promise<Deno.FileInfo | undefined> {
  return Deno.stat(path).catch(() => undefined);
}

/** All but the index of SQLite's log, which only those have that use it. */
async function copyFolder(from: string, to: string): Promise<void> {
  const copy = `${to}-${crypto.randomUUID()}`;
  await Deno.mkdir(copy, { mode: 0o700 });
  for await (const { name, isFile } of Deno.readDir(from)) {
    if (isFile && !name.endsWith("-shm")) await Deno.copyFile(join(from, name), join(copy, name));
  }
  // Whole at once; somebody else may have been first.
  await Deno.rename(copy, to).catch(() => Deno.remove(copy, { recursive: true }));
}
