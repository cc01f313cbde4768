/**
 * Files that a message names with `@path`.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { isCredentialPath } from "../../lib/base/protected_names.ts";
import { type AttachedFile, attachFile } from "../agent/attach_file.ts";
import { attachAll } from "../agent/gather_message.ts";

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

/**
 * Reads them. Rejects as `attachFile` and `attachAll` do, naming the path, and with `refused` for a file of keys or
 * passwords: a text that was pasted may name one.
 */
export async function attachMentioned(text: string): Promise<AttachedFile[]> {
  const paths = (await mentionedFiles(text)).map(expandHome);
  for (const path of paths) {
    if (![path, await Deno.realPath(path)].some(isCredentialPath)) continue;
    throw new ServiceError(
      "refused",
      `${JSON.stringify(path)} is a place for keys and passwords, and isn't attached. ` +
        "Write it without the @, or attach it with: service agent --file",
      { param: "file" },
    );
  }
  return await attachAll(paths, { attach: attachFile });
}

/** A path with `~/` as the shell would have it. */
export function expandHome(path: string): string {
  const home = Deno.env.get("HOME");
  return path.startsWith("~/") && home !== undefined ? home + path.slice(1) : path;
}

function isFile(path: string): Promise<boolean> {
  return Deno.stat(path).then((stat) => stat.isFile, () => false);
}
