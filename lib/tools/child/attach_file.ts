/**
 * The child side of a file that goes out with a message: its bytes, if it still is what was decided on.
 *
 * @module
 */

import { type ChildRun, serveChild } from "../../executor/serve_child.ts";
import { fileStamp } from "./file_stamp.ts";
import { changedError, openChecked, pathTarget } from "./open_checked.ts";
import { formatBytes } from "./text.ts";
import { shownPath } from "./visible.ts";

/** The file as it was when the message was decided on. */
interface Args {
  bytes: number;
  stamp: string;
  maxBytes: number;
}

/** Reads the whole file. */
export const run: ChildRun = ({ task }) => {
  const target = pathTarget(task.target);
  const shown = shownPath(target.real, task.workspace);
  const { bytes, stamp, maxBytes } = task.args as Args;
  using file = openChecked(target, shown);
  if (bytes > maxBytes) {
    throw new Error(`${shown} has ${formatBytes(bytes)}, more than ${formatBytes(maxBytes)}`);
  }
  const unchanged = () => {
    const info = file.statSync();
    if (info.size !== bytes || fileStamp(info) !== stamp) throw changedError(shown);
  };
  unchanged();
  const content = new Uint8Array(bytes);
  for (let at = 0; at < bytes;) {
    const read = file.readSync(content.subarray(at));
    if (read === null) throw changedError(shown);
    at += read;
  }
  unchanged();
  return Promise.resolve({ type: "file", data: content.toBase64() });
};

if (import.meta.main) serveChild(run);
