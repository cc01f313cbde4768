/**
 * Whether there is room on the disks that the service writes to.
 *
 * @module
 */

import { statfs } from "node:fs/promises";
import type { Finding } from "./check.ts";

const MIB = 1024 * 1024;

/** Free space below which it is told of, though work goes on. */
const LOW_MIB = 512;

/** Free bytes at a folder that is there. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Looks at the nearest folder that is there of each. */
export async function checkStorage(
  folders: readonly string[],
  minFreeMiB: number,
  free: (folder: string) => Promise<number> = freeBytes,
): Promise<Finding> {
  let least = { folder: "", mib: Infinity };
  for (const folder of folders) {
    const mib = Math.floor(await free(await nearestThere(folder)) / MIB);
    if (mib < least.mib) least = { folder, mib };
  }
  const { folder, mib } = least;
  if (mib >= Math.max(LOW_MIB, minFreeMiB)) return { status: "ok", detail: `${size(mib)} free` };
  return {
    status: mib < minFreeMiB ? "fail" : "warn",
    detail: mib < minFreeMiB
      ? `only ${size(mib)} free in ${folder}; new work needs ${size(minFreeMiB)}`
      : `only ${size(mib)} free in ${folder}`,
    fix: "Free some disk space" +
      (mib < minFreeMiB ? ", or lower the limit: service config set storage.minFreeMiB MIB" : ""),
  };
}

async function nearestThere(folder: string): Promise<string> {
  let path = folder;
  while (!await Deno.stat(path).then(() => true, () => false) && path !== "/") {
    path = path.replace(/[/\\][^/\\]*$/, "") || "/";
  }
  return path;
}

function size(mib: number): string {
  return mib < 1024 ? `${mib} MiB` : `${(mib / 1024).toFixed(1)} GiB`;
}
