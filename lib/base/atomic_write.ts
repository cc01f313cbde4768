/**
 * Writes a file whole or not at all.
 *
 * @module
 */

/** How {@linkcode writeFileAtomic} writes. */
export interface AtomicWriteOptions {
  /** Mode of the file. */
  mode: number;
  /** Called when the new text is on the disk and not yet in place; throwing leaves the old file. */
  beforeReplace?: () => Promise<void>;
  /** Time of the change, ms since 1970, for who tells versions apart by it; by default the clock's. */
  modifiedAt?: number;
}

/**
 * Replaces a file's text, or makes the file. The text is on the disk before it takes the file's
 * place, so that a crash at any moment leaves the old or the new one. The folder has to exist.
 */
export async function writeFileAtomic(
  path: string,
  text: string,
  { mode, beforeReplace, modifiedAt }: AtomicWriteOptions,
): Promise<void> {
  const temporary = `${path}.${crypto.randomUUID().slice(0, 8)}.tmp`;
  try {
    const file = await Deno.open(temporary, { write: true, createNew: true, mode });
    try {
      const bytes = new TextEncoder().encode(text);
      for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
      if (modifiedAt !== undefined) await file.utime(new Date(modifiedAt), new Date(modifiedAt));
      await file.sync();
    } finally {
      file.close();
    }
    // The process's mask may have taken bits away from the mode.
    if (Deno.build.os !== "windows") await Deno.chmod(temporary, mode);
    await beforeReplace?.();
    await Deno.rename(temporary, path);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw error;
  }
  await syncFolder(path);
}

/** The rename to a path is on the disk once its folder is. Not every file system can do that. */
export async function syncFolder(path: string): Promise<void> {
  if (Deno.build.os === "windows") return;
  const slash = path.lastIndexOf("/");
  const folder = await Deno.open(slash < 1 ? "/" : path.slice(0, slash));
  try {
    await folder.sync().catch(() => {});
  } finally {
    folder.close();
  }
}
