/**
 * The workspace's AGENTS.md, read by the authority because the service may not read the workspace.
 *
 * @module
 */

import { join } from "@std/path";

/** Bytes of AGENTS.md that go into the prompt. */
export const MAX_INSTRUCTIONS_BYTES = 64 * 1024;

/**
 * The text, or an empty one when there is none. A symbolic link is not followed: it could put any
 * file of the machine into a prompt. A longer file is cut, and the cut is stated.
 */
export async function readInstructions(workspace: string): Promise<string> {
  const path = join(workspace, "AGENTS.md");
  try {
    const seen = await Deno.lstat(path);
    if (!seen.isFile) return "";
    using file = await Deno.open(path);
    const opened = await file.stat();
    if (opened.ino !== seen.ino || opened.dev !== seen.dev) return "";
    const bytes = new Uint8Array(Math.min(opened.size, MAX_INSTRUCTIONS_BYTES));
    let length = 0;
    while (length < bytes.length) {
      const read = await file.read(bytes.subarray(length));
      if (read === null) break;
      length += read;
    }
    const text = new TextDecoder().decode(bytes.subarray(0, length));
    return opened.size > MAX_INSTRUCTIONS_BYTES
      ? `${text}\n[AGENTS.md is ${opened.size} bytes; only the first ${MAX_INSTRUCTIONS_BYTES} are here]`
      : text;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    if (error instanceof Deno.errors.NotADirectory) return "";
    if (error instanceof Deno.errors.PermissionDenied) return "";
    throw error;
  }
}
