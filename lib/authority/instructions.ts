/**
 * The workspace's AGENTS.md, read by the authority because the service may not read the workspace.
 *
 * @module
 */

import { join } from "@std/path";

/** Bytes of AGENTS.md that go into the prompt. */
export const MAX_INSTRUCTIONS_BYTES = 64 * 1024;

/** Folders whose file is remembered. */
const MAX_REMEMBERED = 64;

/** A file that was changed less long ago, milliseconds, may be changed again with no trace. */
const SETTLED_MS = 2_000;

/** Reads the files of workspaces, and opens one anew only when it was changed. */
export class Instructions {
  readonly #now: () => number;
  readonly #read = new Map<string, { mark: string; text: string }>();

  /** `now`: milliseconds since 1970. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /**
   * The text, or an empty one when there is none. A symbolic link is not followed: it could put any
   * file of the machine into a prompt. A longer file is cut, and the cut is stated.
   */
  async of(workspace: string): Promise<string> {
    const path = join(workspace, "AGENTS.md");
    const seen = await Deno.lstat(path).catch(noneIfGone);
    if (!seen?.isFile) return "";
    const { dev, ino, size, mtime, ctime } = seen;
    const mark = JSON.stringify([dev, ino, size, mtime, ctime]);
    const known = this.#read.get(workspace);
    if (known?.mark === mark) return known.text;
    const text = await readFile(path, seen).catch(noneIfGone) ?? "";
    if (this.#now() - Math.max(Number(mtime), Number(ctime)) < SETTLED_MS) return text;
    if (this.#read.size >= MAX_REMEMBERED) this.#read.clear();
    this.#read.set(workspace, { mark, text });
    return text;
  }
}

async function readFile(path: string, seen: Deno.FileInfo): Promise<string> {
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
}

function noneIfGone(error: unknown): undefined {
  const isGone = error instanceof Deno.errors.NotFound ||
    error instanceof Deno.errors.NotADirectory || error instanceof Deno.errors.PermissionDenied;
  if (!isGone) throw error;
}
