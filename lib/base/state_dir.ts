/**
 * The folder of an instance of a channel: the only one that its worker may write to.
 *
 * @module
 */

import { isAbsolute, join, normalize } from "@std/path";

/** The folder of a runtime name in the data of a home. */
export function channelStateDir(dataDir: string, runtimeName: string): string {
  return join(dataDir, "channels", runtimeName);
}

/** Names of what lies in that folder; none before the instance was ever started. */
export function stateFiles(dataDir: string, runtimeName: string): string[] {
  try {
    return [...Deno.readDirSync(channelStateDir(dataDir, runtimeName))].map(({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** Whether a path is that of something in a folder, and spelled in one way only. */
export function isInside(folder: string, path: string): boolean {
  return isAbsolute(path) && !path.includes("\0") && normalize(path) === path &&
    path.startsWith(folder.endsWith("/") ? folder : `${folder}/`) && !path.endsWith("/");
}
