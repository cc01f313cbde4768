/**
 * Folders that only their owner may enter.
 *
 * @module
 */

import { dirname } from "@std/path";
import { ServiceError } from "./errors.ts";

/**
 * Makes a folder of mode 0700, or checks the one that is there: it has to be a folder and no link,
 * and ours, for in a shared place such as /tmp somebody else may have made it first. A mode that is
 * too wide is narrowed. Throws `config_invalid`, naming the folder and what is wrong with it.
 */
export async function makePrivateDir(
  path: string,
  uid: () => number | null = Deno.uid,
): Promise<void> {
  await Deno.mkdir(path, { recursive: true, mode: 0o700 });
  const info = await Deno.lstat(path);
  if (!info.isDirectory) throw refuse(path, "it is no folder");
  if (Deno.build.os === "windows") return;
  if (info.uid !== uid()) throw refuse(path, `it belongs to the user ${info.uid}`);
  if (info.mode !== null && (info.mode & 0o077) !== 0) await Deno.chmod(path, 0o700);
}

/**
 * Whether nobody else can have made a folder, or put anything into it: in a shared place such as /tmp it has
 * to be ours, and closed to others. False where there is none.
 */
export async function isOutOfReach(
  path: string,
  uid: () => number | null = Deno.uid,
): Promise<boolean> {
  try {
    const [info, parent] = await Promise.all([Deno.lstat(path), Deno.stat(dirname(path))]);
    if (!info.isDirectory) return false;
    if (Deno.build.os === "windows" || ((parent.mode ?? 0) & 0o002) === 0) return true;
    return info.uid === uid() && ((info.mode ?? 0) & 0o022) === 0;
  } catch {
    return false;
  }
}

function refuse(path: string, reason: string): ServiceError {
  return new ServiceError("config_invalid", `Cannot use the folder "${path}": ${reason}`);
}
