/**
 * The file of the program, and the two beside it: the next version while it is downloaded, and the previous
 * one to go back to. All take their place by a rename, so that there is a whole program at any moment.
 *
 * @module
 */

import { basename, dirname } from "@std/path";
import { syncFolder } from "../../lib/base/atomic_write.ts";
import { ServiceError } from "../../lib/base/errors.ts";

/** Paths of the three. */
export interface ProgramFiles {
  program: string;
  next: string;
  previous: string;
}

/** Those of a program. */
export function programFiles(program: string): ProgramFiles {
  const beside = `${dirname(program)}/.${basename(program)}`;
  return { program, next: `${beside}.next`, previous: `${beside}.previous` };
}

/**
 * Gives `use` the place of the next version, for itself alone, and empties it afterwards. Throws `conflict`
 * while somebody else has it, and `invalid_request` for a folder that can't be written to.
 */
export async function withNext<T>(
  { next }: ProgramFiles,
  use: () => Promise<T>,
): Promise<T> {
  using lock = await takeNext(next);
  try {
    return await use();
  } finally {
    // Unless it has become the program.
    if (await isAt(lock, next)) await Deno.remove(next);
  }
}

/** Locked without being open for writing: a file that is can't be run. */
async function takeNext(next: string): Promise<Deno.FsFile> {
  try {
    (await Deno.open(next, { write: true, create: true, mode: 0o700 })).close();
  } catch (error) {
    throw unwritable(dirname(next), error);
  }
  const lock = await Deno.open(next);
  if (await lock.tryLock(true) && await isAt(lock, next)) return lock;
  lock.close();
  throw new ServiceError("conflict", "Another upgrade is running. Nothing was changed");
}

async function isAt(file: Deno.FsFile, path: string): Promise<boolean> {
  const [open, there] = await Promise.all([file.stat(), Deno.lstat(path).catch(() => undefined)]);
  return open.ino === there?.ino && open.dev === there?.dev;
}

/** Puts the next version in the place of the program, which becomes the previous one. */
export async function takeOver({ program, next, previous }: ProgramFiles): Promise<void> {
  const { mode } = await Deno.stat(program);
  if (Deno.build.os !== "windows") await Deno.chmod(next, (mode ?? 0o755) & 0o7777);
  await keep(program, previous);
  await moveOver(next, program);
}

/** Exchanges the program and the previous one. */
export async function goBack({ program, previous }: ProgramFiles): Promise<void> {
  const kept = `${previous}.kept`;
  await keep(program, kept);
  await moveOver(previous, program);
  await Deno.rename(kept, previous);
}

/** A second name for the program, in the place of what has it. */
async function keep(program: string, path: string): Promise<void> {
  const made = `${path}.new`;
  await Deno.remove(made).catch(() => {});
  // Not every file system has hard links.
  await Deno.link(program, made).catch(() => Deno.copyFile(program, made));
  await Deno.rename(made, path);
}

/** Windows replaces no program that runs, but lets it be renamed. */
async function moveOver(from: string, program: string): Promise<void> {
  if (Deno.build.os === "windows") await Deno.rename(program, `${program}.old`);
  await Deno.rename(from, program);
  await syncFolder(program);
}

function unwritable(folder: string, cause: unknown): ServiceError {
  const asRoot = Deno.build.os === "windows" ? "" : ", or run this with sudo";
  return new ServiceError(
    "invalid_request",
    `Can't write to ${folder}: ${reasonOf(cause)}. Make it writable${asRoot}. Nothing was changed`,
    {},
    { cause },
  );
}

/** What the system says, without what it was asked. */
export function reasonOf(error: unknown): string {
  return (error as Error).message.replace(/ \(os error \d+\).*/s, "");
}
