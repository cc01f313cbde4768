/**
 * The child side of `write_file`.
 *
 * @module
 */

import type { ChildRun } from "../../executor/serve_child.ts";
import { pathTarget } from "./open_checked.ts";
import { formatBytes } from "./text.ts";
import { shownPath } from "./visible.ts";
import { writeWhole } from "./write_whole.ts";

interface Args {
  content: string;
}

/** Replaces or makes a file. */
export const run: ChildRun = ({ task }) => {
  const target = pathTarget(task.target);
  const shown = shownPath(target.real, task.workspace);
  if (target.file?.isDirectory) throw new Error(`${shown} is a folder, expected a file`);
  const content = new TextEncoder().encode((task.args as Args).content);
  writeWhole(target, content, shown);
  const did = target.file === undefined ? "Made" : "Replaced";
  return Promise.resolve({
    type: "result",
    output: `${did} ${shown}, ${formatBytes(content.length)}`,
  });
};
