/**
 * How the files of the operators' state are looked at. Nothing here follows a link or throws: what
 * cannot be read is a value.
 *
 * @module
 */

import type { Damaged } from "./damaged.ts";

/** What tells one version of a file from another, and from none. */
export function fingerprint(path: string): string {
  try {
    const { mtime, ctime, size, ino, dev } = Deno.lstatSync(path);
    return `${mtime?.getTime()} ${ctime?.getTime()} ${size} ${ino} ${dev}`;
  } catch (error) {
    return (error as Error).name;
  }
}

/** When a file was changed, ms since 1970; undefined when there is none. */
export function modifiedTime(path: string): number | undefined {
  try {
    return Deno.lstatSync(path).mtime?.getTime();
  } catch {
    return undefined;
  }
}

/** A file's text; undefined when there is none. */
export function readBounded(
  path: string,
  maxBytes: number,
): { text: string } | Damaged | undefined {
  try {
    const { isFile, size } = Deno.lstatSync(path);
    if (!isFile) return { damaged: "it is no file" };
    if (size > maxBytes) return { damaged: `it has ${size} bytes, more than ${maxBytes}` };
    return { text: DECODER.decode(Deno.readFileSync(path)) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    return { damaged: `it cannot be read: ${(error as Error).message}` };
  }
}

/** Takes no byte for another: what it lets through is what was written. */
const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
