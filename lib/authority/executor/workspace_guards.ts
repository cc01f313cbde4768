/**
 * What in the workspace a command may not read, and what it may not write (decisions E2), found by a
 * bounded walk right before it runs. When something cannot be held, that is said, and the command does
 * not run.
 *
 * A mount holds a file by its name, so the folders above it are held too (`pin`): else a command could
 * move one aside and put another in its place. What bubblewrap cannot hold: a repository that a command
 * makes anew has the hooks that it likes, until the next command; and a file that another program of
 * the machine puts in place of a guarded one while the command runs is not guarded.
 *
 * @module
 */

import { basename, dirname, join, SEPARATOR } from "@std/path";
import { isInside } from "../resolve/inside.ts";
import { isCredentialPath, isGuardedPath } from "./protected_names.ts";

/** One place and what becomes of it in the sandbox. */
export interface Guard {
  /** Absolute. */
  path: string;
  /** `pin`: stays where it is, its content is free. */
  how: "pin" | "readOnly" | "hideFile" | "hideFolder";
}

/** Where to look, and how far. */
export interface GuardOptions {
  /** Real path. */
  workspace: string;
  /** Real paths that are never seen, wherever they lie. */
  hidden: readonly string[];
  /** Real paths that are never written. */
  readOnly: readonly string[];
  signal?: AbortSignal;
  /** Default 200,000. */
  maxEntries?: number;
  /** Default 500: the time that bubblewrap takes grows with their square. */
  maxGuards?: number;
  /** Default 10,000. */
  timeoutMs?: number;
}

const MAX_ENTRIES = 200_000;
const MAX_GUARDS = 500;
const TIMEOUT_MS = 10_000;
/** Folders that are read at once. */
const FOLDERS_AT_ONCE = 16;

/** Thrown inside: why the workspace cannot be held. */
class Unholdable extends Error {}

interface Folder {
  path: string;
  /** Below which of its names a repository's own files are, if any. */
  inGit: boolean;
}

/** Every guard of a workspace, parents before what is in them; or why there can be none. */
export async function findGuards(
  options: GuardOptions,
): Promise<{ guards: Guard[] } | { problem: string }> {
  try {
    return { guards: await new Search(options).run() };
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof Unholdable) return { problem: error.message };
    throw error;
  }
}

class Search {
  readonly #options: GuardOptions;
  readonly #found = new Map<string, Guard["how"]>();
  /** Credential files with several names, each of which has to be found. */
  readonly #linked = new Set<string>();
  readonly #files: string[] = [];
  readonly #deadline: number;
  #entries = 0;

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#deadline = performance.now() + (options.timeoutMs ?? TIMEOUT_MS);
  }

  async run(): Promise<Guard[]> {
    const { workspace, hidden, readOnly } = this.#options;
    for (const path of hidden) await this.#hideOwn(path);
    for (const path of readOnly) {
      if (isInside(path, workspace) && path !== workspace) this.#add(path, "readOnly");
    }
    const folders: Folder[] = [{ path: workspace, inGit: false }];
    while (folders.length > 0) {
      const wave = folders.splice(-FOLDERS_AT_ONCE);
      const found = await Promise.all(wave.map((folder) => this.#look(folder)));
      for (const more of found) folders.push(...more);
    }
    await this.#hideOtherNames();
    return this.#withPins();
  }

  /** The folders in a folder that are to be looked at. */
  async #look(folder: Folder): Promise<Folder[]> {
    this.#options.signal?.throwIfAborted();
    if (performance.now() > this.#deadline) {
      throw new Unholdable("looking through the workspace for credentials took too long");
    }
    const below: Folder[] = [];
    try {
      for await (const entry of Deno.readDir(folder.path)) {
        if (++this.#entries > (this.#options.maxEntries ?? MAX_ENTRIES)) {
          throw new Unholdable(
            `the workspace has more than ${
              this.#options.maxEntries ?? MAX_ENTRIES
            } files, too many to look through for credentials`,
          );
        }
        const next = await this.#judge(folder, entry);
        if (next !== undefined) below.push(next);
      }
    } catch (error) {
      if (error instanceof Unholdable) throw error;
      // Whoever removed it in the meantime left nothing to hold; a name that is no UTF-8 is there.
      const gone = error instanceof Deno.errors.NotFound ||
        error instanceof Deno.errors.NotADirectory;
      if (gone && !folder.path.includes("\ufffd")) return [];
      const reason = error instanceof Error ? error.message : String(error);
      throw new Unholdable(`the folder "${folder.path}" cannot be looked through: ${reason}`);
    }
    return below;
  }

  async #judge(folder: Folder, entry: Deno.DirEntry): Promise<Folder | undefined> {
    const path = join(folder.path, entry.name);
    if (this.#found.has(path)) return;
    const near = join(basename(folder.path), entry.name);
    const guarded = folder.inGit
      ? isGuardedPath(path.slice(this.#options.workspace.length))
      : isGuardedPath(entry.name);
    if (entry.isSymlink) {
      if (guarded || isCredentialPath(near)) await this.#holdLinked(path, guarded, folder.inGit);
      return;
    }
    if (entry.isDirectory) {
      if (isCredentialPath(join(entry.name, "x"))) return this.#add(path, "hideFolder");
      const isRepository = guarded && !folder.inGit;
      if (guarded && !isRepository) return this.#add(path, "readOnly");
      if (isRepository) {
        this.#add(path, "pin");
        await this.#haveHooks(path);
      }
      // Objects have names that git gives them, and are most of a repository.
      const isObjects = folder.inGit && entry.name === "objects";
      return isObjects ? undefined : { path, inGit: folder.inGit || isRepository };
    }
    if (!entry.isFile) {
      // A socket leads out of the sandbox: its other end is a program of the machine.
      return this.#add(path, "hideFile");
    }
    if (isCredentialPath(near)) return await this.#hideCredentials(path);
    if (guarded) return this.#add(path, "readOnly");
    this.#files.push(path);
  }

  async #hideCredentials(path: string): Promise<undefined> {
    if (path.includes("\ufffd")) {
      throw new Unholdable(`the name of "${path}" is no UTF-8, so it cannot be hidden`);
    }
    this.#add(path, "hideFile");
    const { nlink, dev, ino } = await Deno.lstat(path);
    if ((nlink ?? 1) > 1) this.#linked.add(`${dev}:${ino}`);
  }

  /** What a link leads to is held if it is seen at all; a link itself can be held by no mount. */
  async #holdLinked(path: string, guarded: boolean, inGit: boolean): Promise<void> {
    const { workspace } = this.#options;
    const isDeep = dirname(path) !== workspace && !inGit && !basename(path).startsWith(".git");
    if (guarded && !isDeep) {
      throw new Unholdable(
        `"${path}" is a link, which can be kept from being replaced only as a file or folder`,
      );
    }
    let real: string;
    let info: Deno.FileInfo;
    try {
      real = await Deno.realPath(path);
      info = await Deno.stat(real);
    } catch {
      return;
    }
    if (!isInside(real, workspace) || real === workspace) return;
    if (guarded) this.#add(real, "readOnly");
    else if (info.isDirectory) this.#add(real, "hideFolder");
    else await this.#hideCredentials(real);
  }

  async #hideOtherNames(): Promise<void> {
    if (this.#linked.size === 0) return;
    for (const path of this.#files) {
      this.#options.signal?.throwIfAborted();
      const info = await Deno.lstat(path).catch(() => undefined);
      if (info !== undefined && this.#linked.has(`${info.dev}:${info.ino}`)) {
        this.#add(path, "hideFile");
      }
    }
  }

  /** Without a folder of hooks a command could make one. */
  async #haveHooks(repository: string): Promise<void> {
    const isOne = await Deno.lstat(join(repository, "HEAD")).then(() => true, () => false);
    if (!isOne) return;
    const hooks = join(repository, "hooks");
    try {
      await Deno.mkdir(hooks, { mode: 0o755 });
      this.#add(hooks, "readOnly");
    } catch (error) {
      // What is there already is judged like everything else.
      if (error instanceof Deno.errors.AlreadyExists) return;
      throw new Unholdable(`"${hooks}" cannot be made: ${(error as Error).message}`);
    }
  }

  async #hideOwn(path: string): Promise<void> {
    const { workspace } = this.#options;
    if (isInside(workspace, path) || !isInside(path, workspace)) return;
    const info = await Deno.lstat(path).catch(() => undefined);
    if (info !== undefined) this.#add(path, info.isDirectory ? "hideFolder" : "hideFile");
  }

  #add(path: string, how: Guard["how"]): undefined {
    const known = this.#found.get(path);
    const hides = (how: Guard["how"] | undefined) => how === "hideFile" || how === "hideFolder";
    // What is hidden stays so; what is read-only is more than pinned.
    if (!hides(known) && (known !== "readOnly" || hides(how))) this.#found.set(path, how);
    const max = this.#options.maxGuards ?? MAX_GUARDS;
    if (this.#found.size > max) {
      throw new Unholdable(`the workspace has more than ${max} files to hide or to guard`);
    }
  }

  #withPins(): Guard[] {
    const { workspace } = this.#options;
    for (const path of [...this.#found.keys()]) {
      for (let above = dirname(path); above !== workspace; above = dirname(above)) {
        if (!isInside(above, workspace)) break;
        this.#add(above, "pin");
      }
    }
    const guards = [...this.#found].map(([path, how]) => ({ path, how }));
    guards.sort((a, b) => a.path < b.path ? -1 : 1);
    // What lies in a hidden folder is gone with it, and nothing can be mounted there.
    const hidden = guards.filter(({ how }) => how === "hideFolder").map(({ path }) => path);
    return guards.filter(({ path }) =>
      !hidden.some((folder) => path.startsWith(folder + SEPARATOR))
    );
  }
}
