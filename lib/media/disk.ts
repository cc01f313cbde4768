import { ServiceError } from "../base/errors.ts";

/** Ends the names of files that are not whole yet; no hash has one. */
const UNFINISHED = ".part";

const ON_WINDOWS = Deno.build.os === "windows";

/** One folder of files, each whole or not there. Every failure is an `internal`. */
export interface Disk {
  /** The file is there under its name and on the disk when this resolves; else it is not there. */
  write(name: string, bytes: Uint8Array): Promise<void>;
  /** Makes sure that a file that is there is so after a power cut too, and counts as used now. */
  settle(name: string): Promise<void>;
  /** Bytes of a file and when it was last used; undefined when there is none. */
  stat(name: string): Promise<{ bytes: number; at: number } | undefined>;
  /** Undefined when there is none. */
  read(name: string): Promise<Uint8Array | undefined>;
  /** Whether there was one. */
  remove(name: string): Promise<boolean>;
  /** Names of all files, without what is being written. */
  names(): AsyncIterable<string>;
  /** Removes what a crash left unfinished. Returns how many. */
  removeUnfinished(): Promise<number>;
}

/** A {@linkcode Disk} over a folder (0700) that is made with its first file (0600). */
export function openDisk(dir: string): Disk {
  /** Names of files that are being written now. */
  const unfinished = new Set<string>();

  async function* list(): AsyncIterable<string> {
    try {
      for await (const { name, isFile } of Deno.readDir(dir)) if (isFile) yield name;
    } catch (error) {
      unlessAbsent("list")(error);
    }
  }

  async function remove(name: string): Promise<boolean> {
    return await Deno.remove(`${dir}/${name}`).then(() => true, unlessAbsent("remove")) ?? false;
  }

  return {
    remove,
    async write(name, bytes) {
      const partName = `${name}.${crypto.randomUUID()}${UNFINISHED}`;
      unfinished.add(partName);
      let at = `${dir}/${partName}`;
      try {
        await makeFolder(dir);
        await writeWhole(at, bytes);
        await Deno.rename(at, `${dir}/${name}`);
        at = `${dir}/${name}`;
        await syncFolder(dir);
      } catch (error) {
        // What cannot be removed now is found by the next `removeUnfinished`.
        await Deno.remove(at).catch(() => {});
        throw cannot("write", error);
      } finally {
        unfinished.delete(partName);
      }
    },
    async settle(name) {
      try {
        await Deno.utime(`${dir}/${name}`, new Date(), new Date());
        await syncFolder(dir);
      } catch (error) {
        throw cannot("write", error);
      }
    },
    async stat(name) {
      const info = await Deno.lstat(`${dir}/${name}`).catch(unlessAbsent("read"));
      return info && { bytes: info.size, at: info.mtime?.getTime() ?? 0 };
    },
    read: (name) => Deno.readFile(`${dir}/${name}`).catch(unlessAbsent("read")),
    async *names() {
      for await (const name of list()) if (!name.endsWith(UNFINISHED)) yield name;
    },
    async removeUnfinished() {
      let removed = 0;
      for await (const name of list()) {
        if (!name.endsWith(UNFINISHED) || unfinished.has(name)) continue;
        if (await remove(name)) removed++;
      }
      return removed;
    },
  };
}

/** Makes the folder, for its owner alone. */
async function makeFolder(dir: string): Promise<void> {
  try {
    const { mode } = await Deno.stat(dir);
    if (!ON_WINDOWS && ((mode ?? 0) & 0o077) !== 0) await Deno.chmod(dir, 0o700);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    await Deno.mkdir(dir, { recursive: true, mode: 0o700 });
    await syncFolder(`${dir}/..`);
  }
}

async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  using file = await Deno.open(path, { write: true, createNew: true, mode: 0o600 });
  for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
  await file.sync();
}

/** Puts a folder's list of names on the disk. */
async function syncFolder(path: string): Promise<void> {
  // There a folder cannot be opened, and a rename is on record with the file.
  if (ON_WINDOWS) return;
  using folder = await Deno.open(path);
  try {
    await folder.sync();
  } catch (error) {
    // Some file systems over a network know no such thing.
    if (!["EINVAL", "ENOTSUP"].includes((error as { code?: string }).code ?? "")) throw error;
  }
}

type Action = "list" | "read" | "remove" | "write";

/** Takes a failure that means that there is no such file; throws any other. */
function unlessAbsent(action: Action): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw cannot(action, error);
  };
}

/** The system's reason without the path, which is nobody's business but the operator's. */
function cannot(action: Action, cause: unknown): ServiceError {
  const message = cause instanceof Error ? cause.message : String(cause);
  const reason = message.split(": ", 1)[0]!;
  const what = action === "list" ? "the media folder" : "a file in the media folder";
  return new ServiceError("internal", `Cannot ${action} ${what}: ${reason}`, {}, { cause });
}
