/**
 * Files that a message names with `@path`.
 *
 * @module
 */

import { type AttachedFile, attachFile } from "../agent/attach_file.ts";

const MENTION = /(?<=^|[\s(])@(?:"([^"\n]+)"|([^\s"]+))/g;

/** The paths that are named and are there; any other `@word` is a word. */
export async function mentionedFiles(text: string): Promise<string[]> {
  const paths = new Set<string>();
  for (const [, quoted, plain = ""] of text.matchAll(MENTION)) {
    // "See @notes.md." ends a sentence.
    const tries = quoted !== undefined ? [quoted] : [plain, plain.replace(/[.,;:!?)]+$/, "")];
    for (const path of tries) {
      if (path === "" || !await isFile(expandHome(path))) continue;
      paths.add(path);
      break;
    }
  }
  return [...paths];
}

/** Reads them. Rejects as `attachFile` does, naming the path. */
export async function attachMentioned(text: string): Promise<AttachedFile[]> {
  const files: AttachedFile[] = [];
  for (const path of await mentionedFiles(text)) files.push(await attachFile(expandHome(path)));
  return files;
}

/** A path with `~/` as the shell would have it. */
export function expandHome(path: string): string {
  const home = Deno.env.get("HOME");
  return path.startsWith("~/") && home !== undefined ? home + path.slice(1) : path;
}

function isFile(path: string): Promise<boolean> {
  return Deno.stat(path).then((stat) => stat.isFile, () => false);
}
