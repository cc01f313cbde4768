/**
 * From a look at the workspace to what is mounted over it, parents before what is in them. When something
 * cannot be held, that is said, and the command does not run.
 *
 * A mount holds a file by its name, so the folders above it are held too (`pin`): else a command could
 * move one aside and put another in its place. Where there is much to hold, whole folders are.
 *
 * @module
 */

import { dirname, SEPARATOR } from "@std/path";
import { isInside } from "../base/inside.ts";
import { escapeMount } from "./mount_check.ts";
import {
  type Hold,
  isHidden,
  type Look,
  LookError,
  type LookOptions,
  lookThrough,
} from "./workspace_look.ts";

/** One place and what becomes of it in the sandbox. */
export interface Guard {
  /** Absolute. */
  path: string;
  how: Hold;
}

/** Mounts over the workspace: the time that bubblewrap takes grows with their square. */
export const MAX_GUARDS = 500;
/** Bytes of all their paths: they go through one argument. */
const MAX_BYTES = 100_000;

/** Where to look, and how much may be held. */
export interface GuardOptions extends LookOptions {
  /** Default 500. */
  maxGuards?: number;
  /** May hold more. */
  onLook?: (look: Look) => Promise<void>;
}

/** Every guard of a workspace; or why there can be none. */
export async function findGuards(
  options: GuardOptions,
): Promise<{ guards: Guard[]; look: Look } | { problem: string }> {
  try {
    const look = await lookThrough(options);
    await options.onLook?.(look);
    const made = guardsOf(look, options);
    return "problem" in made ? made : { ...made, look };
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof LookError) return { problem: error.message };
    throw error;
  }
}

/** The mounts for what a look found. */
export function guardsOf(
  { held, unholdable }: Pick<Look, "held" | "unholdable">,
  { workspace, maxGuards = MAX_GUARDS }: { workspace: string; maxGuards?: number },
): { guards: Guard[] } | { problem: string } {
  for (const [path, reason] of unholdable) return { problem: `"${path}" ${reason}` };
  const tops = new Set<string>();
  for (const path of held.keys()) tops.add(path.slice(workspace.length + 1).split(SEPARATOR)[0]!);
  // Not even their folders as a whole would do.
  if (tops.size > maxGuards) return tooMany(tops, maxGuards);
  let guards = withPins(held, workspace);
  for (let folders = 1; isTooMuch(guards, maxGuards); folders *= 2) {
    const collapsed = collapse(guards, workspace, folders);
    if (collapsed === undefined) return tooMany(tops, maxGuards);
    guards = withPins(collapsed, workspace);
  }
  return { guards };
}

function tooMany(names: Iterable<string>, max: number): { problem: string } {
  const named = Iterator.from(names).take(3).map((name) => `"${name}"`).toArray().join(", ");
  return {
    problem: `the workspace has more than ${max} files and folders to hide or to guard ` +
      `(${named}, …); put them into one folder of it`,
  };
}

function isTooMuch(guards: readonly Guard[], max: number): boolean {
  if (guards.length > max) return true;
  let bytes = 0;
  for (const { path } of guards) bytes += new TextEncoder().encode(escapeMount(path)).length;
  return bytes > MAX_BYTES;
}

/** Holds as a whole those folders that have the most to hold in them, the deepest of them first. */
function collapse(
  guards: readonly Guard[],
  workspace: string,
  howMany: number,
): Map<string, Hold> | undefined {
  const counts = new Map<string, number>();
  for (const { path } of guards) {
    const above = dirname(path);
    if (above !== workspace) counts.set(above, (counts.get(above) ?? 0) + 1);
  }
  if (counts.size === 0) return undefined;
  const folders = new Set(
    [...counts].sort(([a, countA], [b, countB]) => countB - countA || b.length - a.length)
      .slice(0, howMany).map(([folder]) => folder),
  );
  const held = new Map<string, Hold>();
  for (const { path, how } of guards) {
    if (how === "pin") continue;
    let whole: string | undefined;
    for (let above = dirname(path); isInside(above, workspace); above = dirname(above)) {
      if (folders.has(above)) whole = above;
      if (above === workspace) break;
    }
    if (whole === undefined) held.set(path, how);
    else if (isHidden(how)) held.set(whole, "hideFolder");
    else if (!held.has(whole)) held.set(whole, "readOnly");
  }
  return held;
}

function withPins(found: ReadonlyMap<string, Hold>, workspace: string): Guard[] {
  const all = new Map(found);
  for (const path of found.keys()) {
    const above: string[] = [];
    for (let folder = dirname(path); folder !== workspace; folder = dirname(folder)) {
      if (!isInside(folder, workspace)) break;
      above.unshift(folder);
    }
    for (const folder of above) {
      const how = all.get(folder);
      // Nothing in it can be moved, and a pin would open it to writing; or nothing of it is seen.
      if (how === "readOnly" || isHidden(how)) break;
      all.set(folder, "pin");
    }
  }
  const guards = [...all].map(([path, how]) => ({ path, how }));
  guards.sort((a, b) => a.path < b.path ? -1 : 1);
  // What lies in a hidden folder is gone with it, and nothing can be mounted there.
  const hidden = new Set(guards.filter(({ how }) => how === "hideFolder").map(({ path }) => path));
  const isGone = (path: string) => {
    for (let above = dirname(path); above.length > workspace.length; above = dirname(above)) {
      if (hidden.has(above)) return true;
    }
    return false;
  };
  return guards.filter(({ path }) => !isGone(path));
}
