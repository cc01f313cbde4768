/**
 * Removes what earlier versions unpacked: each is more than 100 MB, and the next start of one that is still
 * there unpacks it again.
 *
 * @module
 */

import { basename, dirname, fromFileUrl } from "@std/path";
import { ROOT } from "../../lib/base/layout.ts";
import { programFiles } from "./program_files.ts";

/** A folder of an unpacked program: the first digits of its hash (`release/self_extracting.sh`). */
const UNPACKED = /^[0-9a-f]{16}$/;

/** Keeps this process's, and those of the program and of the previous one. Never rejects. */
export async function removeUnpacked(
  program: string,
  own = fromFileUrl(ROOT).replace(/\/$/, ""),
): Promise<void> {
  if (!UNPACKED.test(basename(own))) return;
  const { previous } = programFiles(program);
  const kept = new Set([basename(own), await unpackedName(program), await unpackedName(previous)]);
  try {
    for await (const { name, isDirectory } of Deno.readDir(dirname(own))) {
      if (!isDirectory || !UNPACKED.test(name) || kept.has(name)) continue;
      await Deno.remove(`${dirname(own)}/${name}`, { recursive: true });
    }
  } catch {
    // It costs room, nothing else.
  }
}

/** Where a program unpacks itself; undefined for one that doesn't. */
async function unpackedName(program: string): Promise<string | undefined> {
  using file = await Deno.open(program).catch(() => undefined);
  const head = new Uint8Array(2_048);
  const read = await file?.read(head) ?? 0;
  return /^hash=([0-9a-f]{16})/m.exec(new TextDecoder().decode(head.subarray(0, read)))?.[1];
}
