/**
 * The files of an audit folder: one that is written to, and those that were closed when they were
 * full, each named after the number of its first record.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";

/** The file that is written to. */
export const AUDIT_FILE = "audit.jsonl";

/** The last signed checkpoint, so that a cut end is found. */
export const CHECKPOINT_FILE = "checkpoint.json";

/** The key that checkpoints are verified with, PEM. */
export const PUBLIC_KEY_FILE = "audit.pub";

/** Name of a closed file. */
export function closedName(firstSeq: number): string {
  return `audit-${firstSeq}.jsonl`;
}

/** Number of the first record of a closed file, by its name; undefined for the name of anything else. */
export function firstOf(name: string): number | undefined {
  const first = Number(/^audit-([1-9]\d{0,15})\.jsonl$/.exec(name)?.[1]);
  return Number.isSafeInteger(first) ? first : undefined;
}

/** Bytes of all files of records. */
export async function logBytes(dir: string): Promise<number> {
  let sum = 0;
  for (const name of [AUDIT_FILE, ...(await listClosed(dir)).map(closedName)]) {
    // One may be closed, or pruned, at this moment.
    sum += await Deno.stat(`${dir}/${name}`).then(({ size }) => size, () => 0);
  }
  return sum;
}

/** Numbers of the first records of the closed files, ascending. Empty where there is no folder. */
export async function listClosed(dir: string): Promise<number[]> {
  const found: number[] = [];
  try {
    for await (const { name, isFile } of Deno.readDir(dir)) {
      const first = firstOf(name);
      if (first !== undefined && isFile) found.push(first);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return found.sort((a, b) => a - b);
}

/** Whether something of that name is there, a broken link too. */
export async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/**
 * Throws `audit_unavailable` for what is there and is no file, such as a pipe: reading one would wait
 * for ever.
 */
export async function assertFile(path: string): Promise<void> {
  const info = await Deno.stat(path);
  if (!info.isFile) throw new ServiceError("audit_unavailable", `"${path}" is no file`);
}

/** A file's text; undefined where there is no file. */
export async function readTextIfAny(path: string): Promise<string | undefined> {
  try {
    await assertFile(path);
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Makes names in a folder last over a power cut; not every file system can. */
export async function syncFolder(dir: string): Promise<void> {
  if (Deno.build.os === "windows") return;
  using folder = await Deno.open(dir);
  await folder.sync().catch(() => {});
}

/** Opens a file of the record for reading; undefined where there is none. */
export async function openIfAny(path: string): Promise<Deno.FsFile | undefined> {
  try {
    await assertFile(path);
    return await Deno.open(path, { read: true });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
