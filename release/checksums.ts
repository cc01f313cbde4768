/**
 * The list of a release's checksums, and its signature.
 *
 * @module
 */

import { CHECKSUMS, SIGNATURE } from "../cli/upgrade/checksums.ts";
import type { SigningKey } from "./signing_key.ts";

/** Checksums of the files in a folder, by name. */
export async function checksumsOf(folder: string): Promise<Map<string, string>> {
  const names = (await Array.fromAsync(Deno.readDir(folder), ({ name }) => name)).toSorted();
  const sums = new Map<string, string>();
  for (const name of names) {
    const digest = await crypto.subtle.digest("SHA-256", await Deno.readFile(`${folder}/${name}`));
    sums.set(name, new Uint8Array(digest).toHex());
  }
  return sums;
}

/** Writes the list of a folder into it and, with a key, the signature. */
export async function writeChecksums(folder: string, key: SigningKey | undefined): Promise<void> {
  for (const name of [CHECKSUMS, SIGNATURE]) await Deno.remove(`${folder}/${name}`).catch(() => {});
  const sums = await checksumsOf(folder);
  const list = new TextEncoder().encode(
    [...sums].map(([name, sum]) => `${sum}  ${name}\n`).join(""),
  );
  await Deno.writeFile(`${folder}/${CHECKSUMS}`, list);
  if (key !== undefined) await Deno.writeFile(`${folder}/${SIGNATURE}`, key.sign(list));
}
