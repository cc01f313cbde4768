/**
 * The child side of `list_files`.
 *
 * @module
 */

import type { ChildRun } from "../../executor/serve_child.ts";
import { checkFolder, pathTarget } from "./open_checked.ts";
import { shownPath, visible } from "./visible.ts";
import { type Entry, noSkips, skipNotes, walk } from "./walk.ts";

interface Args {
  depth: number;
  limit: number;
}

/** Lists a folder, one entry a line. */
export const run: ChildRun = ({ task }) => {
  const target = pathTarget(task.target);
  const { depth, limit } = task.args as Args;
  const shown = shownPath(target.real, task.workspace);
  if (target.file === undefined) throw new Error(`${shown} does not exist`);
  if (!target.file.isDirectory) throw new Error(`${shown} is a file, expected a folder`);
  checkFolder(target.folder, shown);

  const skips = noSkips();
  const lines: string[] = [];
  let isCut = false;
  for (const entry of walk(target.real, { maxDepth: depth, enters: isListed }, skips)) {
    if (lines.length >= limit) {
      isCut = true;
      break;
    }
    lines.push(describe(entry));
  }
  const notes = skipNotes(skips);
  if (isCut) notes.unshift(`the first ${limit} entries; list a folder below, or raise limit`);
  if (lines.length === 0) lines.push(`[${shown} is empty]`);
  if (notes.length > 0) lines.push(`[${notes.join("; ")}]`);
  return Promise.resolve({ type: "result", output: lines.join("\n") });
};

/** Their content is never what a list is made for. */
function isListed({ relative }: Entry): boolean {
  return !/(^|\/)(\.git|node_modules)$/.test(relative);
}

function describe({ path, relative, kind }: Entry): string {
  const name = visible(relative);
  switch (kind) {
    case "folder":
      return `${name}/`;
    case "link":
      return `${name} -> ${visible(attempt(() => Deno.readLinkSync(path)) ?? "?")} (link)`;
    case "file":
      return `${name}  ${attempt(() => Deno.lstatSync(path).size) ?? "?"}`;
    case "other":
      return `${name} (neither file nor folder)`;
  }
}

/** Undefined for what went away, or may not be looked at, while the list was made. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
