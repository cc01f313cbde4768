/**
 * Repositories as they lie on the disk: where one is, and what its configuration makes git obey.
 *
 * Layout: https://git-scm.com/docs/gitrepository-layout
 *
 * @module
 */

import { basename, dirname, join, resolve } from "@std/path";
import { isInside } from "../base/inside.ts";
import { type GitVariable, MAX_CONFIG_BYTES, namedPaths, parseGitConfig } from "./git_config.ts";
import { foldPath, GIT_OBEYED, isGitName } from "../base/protected_names.ts";

/** With a HEAD, any of them makes a folder one that git may take for a repository. */
const PARTS = ["config", "commondir", "hooks", "objects", "refs"];

/** Something that git obeys because a configuration names it. */
export interface GitTarget {
  /** Absolute, links followed as far as it exists. */
  path: string;
  /** What lies in it counts too. */
  isFolder: boolean;
}

/** Whether a folder of that name, with those names in it (both folded), may be a repository's own. */
export function isGitFolder(name: string, has: (name: string) => boolean): boolean {
  return isGitName(name) || (has("head") && PARTS.some(has));
}

/**
 * What the configuration of a repository names in the workspace. `top` is the folder in which its files
 * lie, where that is known.
 */
export async function gitTargets(
  root: string,
  { workspace, top }: { workspace: string; top?: string },
): Promise<GitTarget[]> {
  const common = await pointed(join(root, "commondir")) ?? root;
  const tree = await pointed(join(root, "gitdir"));
  const files = new Set([
    join(common, "config"),
    join(common, "config.worktree"),
    join(root, "config.worktree"),
  ]);
  const targets = new Map<string, GitTarget>();
  for (const file of files) {
    const variables = await readGitConfig(file);
    if (variables === undefined) continue;
    const worktree = variables.findLast(({ name }) => name === "core.worktree")?.value;
    const tops = new Set([
      top ?? (tree === undefined ? dirname(root) : dirname(tree)),
      ...(worktree === undefined ? [] : [resolve(common, worktree)]),
      root,
    ]);
    await addTargets({ file, variables, tops, workspace, targets, seen: new Set([file]) });
  }
  return [...targets.values()];
}

/** The repository whose files lie in a folder, by the `.git` in there. */
export async function gitFolderOf(folder: string): Promise<string | undefined> {
  const path = join(folder, ".git");
  const info = await Deno.stat(path).catch(() => undefined);
  if (info?.isDirectory) return path;
  return info?.isFile ? await pointed(path) : undefined;
}

/** The variables of a configuration; undefined when there is none that git would take. */
export async function readGitConfig(path: string): Promise<GitVariable[] | undefined> {
  const text = await readSmall(path);
  return text === undefined ? undefined : parseGitConfig(text);
}

/** Where a file of one path leads: `.git`, `commondir` or `gitdir`. */
export async function pointed(path: string): Promise<string | undefined> {
  const text = await readSmall(path);
  const target = text?.replace(/^gitdir: ?/, "").replace(/[\r\n]+$/, "");
  return target === undefined || target === "" ? undefined : resolve(dirname(path), target);
}

/** The text of a file that is no larger than a configuration; undefined when there is none. */
export async function readSmall(path: string): Promise<string | undefined> {
  const { constants, open } = await import("node:fs/promises");
  // A pipe in its place must not make anybody wait.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    .catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const info = await file.stat();
    if (!info.isFile() || info.size > MAX_CONFIG_BYTES) return undefined;
    return await file.readFile({ encoding: "utf8" });
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

/**
 * Whether git may obey a file that is written in the workspace (a real path), by what is there already
 * rather than by the path alone.
 */
export async function isObeyedByGit(real: string, workspace: string): Promise<boolean> {
  for (let folder = dirname(real);; folder = dirname(folder)) {
    if (isInside(folder, workspace)) {
      const names = foldPath(real.slice(folder.length));
      if (GIT_OBEYED.has(names[0]!) && await isNearlyGitFolder(folder)) return true;
    }
    const root = await gitFolderOf(folder);
    const targets = root === undefined ? [] : await gitTargets(root, { workspace, top: folder });
    const isOne = ({ path, isFolder }: GitTarget) =>
      path === real || (isFolder && isInside(real, path));
    if (targets.some(isOne)) return true;
    if (dirname(folder) === folder) return false;
  }
}

/** Whether a folder is a repository's own, or becomes one by what git obeys. */
async function isNearlyGitFolder(folder: string): Promise<boolean> {
  // What lies below a `.git` is judged by its path.
  if (isGitName(foldPath(basename(folder))[0] ?? "")) return false;
  return await Deno.lstat(join(folder, "HEAD")).then(() => true, () => false);
}

async function addTargets(search: {
  file: string;
  variables: readonly GitVariable[];
  tops: ReadonlySet<string>;
  workspace: string;
  targets: Map<string, GitTarget>;
  /** Configurations that were read; they may include each other. */
  seen: Set<string>;
}): Promise<void> {
  const { file, variables, tops, workspace, targets, seen } = search;
  for (const { path, how } of namedPaths(variables)) {
    for (const base of how === "include" ? [dirname(file)] : tops) {
      const real = await realAsFarAsThere(resolve(base, path));
      if (how === "include" && !seen.has(real)) {
        seen.add(real);
        const more = await readGitConfig(real);
        if (more !== undefined) await addTargets({ ...search, file: real, variables: more });
      }
      const isFolder = how === "folder";
      // Husky's own scripts start those of the folder above.
      const held = isFolder && basename(real) === "_" ? dirname(real) : real;
      if (isInside(held, workspace) && held !== workspace) {
        targets.set(held, {
          path: held,
          isFolder: isFolder || targets.get(held)?.isFolder === true,
        });
      }
    }
  }
}

async function realAsFarAsThere(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(await realAsFarAsThere(above), basename(path));
  }
}
