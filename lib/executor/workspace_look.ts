/**
 * A look at the whole workspace: what in it a command may not read, what it may not write, and where
 * repositories are.
 *
 * @module
 */

import { basename, dirname, join } from "@std/path";
import { isInside } from "../base/inside.ts";
import { FolderListings } from "./folder_listings.ts";
import { gitFolderOf, gitTargets, isGitFolder, readSmall } from "./git_folder.ts";
import {
  BISECT_NAMES,
  foldPath,
  GIT_OBEYED,
  HELD_SUFFIX,
  isCredentialPath,
  isGitData,
  isGitName,
  isGuardedPath,
  REBASE_TODO,
} from "../base/protected_names.ts";

/** What becomes of a place in the sandbox. `pin`: it stays where it is, its content is free. */
export type Hold = "pin" | "readOnly" | "hideFile" | "hideFolder";

/** What was found, by absolute paths. */
export interface Look {
  held: Map<string, Hold>;
  /** Those that other programs obey or start; links too. */
  obeyed: Set<string>;
  /** Folders that git may take for a repository's own. */
  gitFolders: Set<string>;
  /** What no mount can hold, and why. */
  unholdable: Map<string, string>;
}

/** Where to look, and how far. */
export interface LookOptions {
  /** Real path. */
  workspace: string;
  /** Real paths that are never seen, wherever they lie. */
  hidden: readonly string[];
  /** Real paths that are never written. */
  readOnly: readonly string[];
  /** Remembers what lies in folders from one look to the next. */
  listings?: FolderListings;
  signal?: AbortSignal;
  /** Default 10,000. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;
/** Folders that are read at once. */
const FOLDERS_AT_ONCE = 32;
/** What of a folder is judged at once. */
const ENTRIES_AT_ONCE = 500;
/** Bytes of the longest path that is looked at; what lies deeper is hidden. */
const MAX_PATH_BYTES = 2_000;
/** What stands in a name for bytes that are no UTF-8. */
const NO_UTF8 = "\ufffd";
/** Names that tell what a folder is. */
const TELLING = new Set(["head", "config", "commondir", "gitdir", REBASE_TODO]);

const LINK = "is a link, which can be kept from being replaced only as a file or folder";

/** Why the workspace cannot be looked through. */
export class LookError extends Error {}

/** Listings as a look wants them. */
export function newListings(): FolderListings {
  return new FolderListings((folder, entries) => {
    // Whatever nobody knows in a repository is held.
    if (entries.some(({ name }) => foldPath(name)[0] === "head")) return entries;
    const near = basename(folder);
    return entries.filter(({ name, isFile }) =>
      !isFile || TELLING.has(foldPath(name)[0] ?? "") || isGuardedPath(name) ||
      isCredentialPath(join(near, name)) || name.includes(NO_UTF8)
    );
  });
}

/** Looks. Throws a LookError when it takes too long, and the signal's reason. */
export async function lookThrough(options: LookOptions): Promise<Look> {
  return await new Search(options).run();
}

class Search {
  readonly #options: LookOptions;
  readonly #listings: FolderListings;
  readonly #look: Look = {
    held: new Map(),
    obeyed: new Set(),
    gitFolders: new Set(),
    unholdable: new Map(),
  };
  /** Folders of repositories that hold data alone. */
  readonly #data = new Set<string>();
  /** Files with several names, each of which is held the same way. */
  readonly #linked = new Map<string, Hold>();
  readonly #folders: string[] = [];
  readonly #deadline: number;
  readonly #signal: AbortSignal;

  constructor(options: LookOptions) {
    this.#options = options;
    this.#listings = options.listings ?? newListings();
    const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.#deadline = performance.now() + timeoutMs;
    this.#signal = options.signal ?? new AbortController().signal;
  }

  async run(): Promise<Look> {
    const { workspace, hidden, readOnly } = this.#options;
    for (const path of hidden) await this.#hideOwn(path);
    for (const path of readOnly) {
      if (isInside(path, workspace) && path !== workspace) this.#hold(path, "readOnly");
    }
    await this.#holdForOuterGit();
    const folders = [workspace];
    while (folders.length > 0) {
      const wave = folders.splice(-FOLDERS_AT_ONCE);
      const found = await Promise.all(wave.map((folder) => this.#lookAt(folder)));
      for (const more of found) folders.push(...more);
    }
    await this.#holdOtherNames();
    return this.#look;
  }

  #goOn(): void {
    this.#signal.throwIfAborted();
    if (performance.now() > this.#deadline) {
      throw new LookError(
        "looking through the workspace took too long; try again, as what was seen is remembered",
      );
    }
  }

  /** Judges what is in a folder; the folders in it that are to be looked at. */
  async #lookAt(folder: string): Promise<string[]> {
    this.#goOn();
    let entries: readonly Deno.DirEntry[];
    try {
      entries = await this.#listings.list(folder, () => this.#goOn());
    } catch (error) {
      this.#signal.throwIfAborted();
      if (error instanceof LookError) throw error;
      const isGone = error instanceof Deno.errors.NotFound ||
        error instanceof Deno.errors.NotADirectory;
      // Whoever removed it in the meantime left nothing to hold; a name that is no UTF-8 is there.
      if (isGone && !folder.includes(NO_UTF8)) return [];
      // Nobody can say what is in it.
      if (isGone) this.#hideUnnamed(folder);
      else this.#hide(folder);
      return [];
    }
    this.#folders.push(folder);
    const names = new Set(entries.map(({ name }) => foldPath(name)[0] ?? ""));
    const isGit = !this.#data.has(folder) &&
      isGitFolder(foldPath(basename(folder))[0] ?? "", (name) => names.has(name));
    if (isGit) {
      if (folder !== this.#options.workspace) this.#hold(folder, "pin");
      this.#look.gitFolders.add(folder);
      await this.#holdTargets(folder);
    }
    const below: string[] = [];
    for (let at = 0; at < entries.length; at += ENTRIES_AT_ONCE) {
      const some = entries.slice(at, at + ENTRIES_AT_ONCE);
      await Promise.all(some.map(async (entry) => {
        const path = join(folder, entry.name);
        if (isHidden(this.#look.held.get(path))) return;
        const isWanted = this.#data.has(folder)
          ? this.#judgeData(path, entry)
          : isGit
          ? await this.#judgeInGit(path, entry)
          : await this.#judge(path, entry);
        if (isWanted) below.push(path);
      }));
    }
    return below;
  }

  /** Holds what is to be held; whether it is a folder that is to be looked at. */
  async #judge(path: string, entry: Deno.DirEntry): Promise<boolean> {
    const { name, isFile, isDirectory, isSymlink } = entry;
    const near = join(basename(dirname(path)), name);
    const folded = foldPath(name)[0] ?? "";
    const isGit = isGitName(folded);
    const isObeyed = isGit || folded === ".envrc" || folded === "agents.md";
    if (isSymlink) {
      if (isObeyed || isCredentialPath(near)) await this.#holdLinked(path, isObeyed);
      return false;
    }
    if (isDirectory) {
      if (isCredentialPath(join(name, "x"))) return this.#hide(path);
      if (isObeyed && !isGit) return this.#obey(path);
      if (new TextEncoder().encode(path).length > MAX_PATH_BYTES) return this.#hide(path);
      return true;
    }
    // A socket leads out of the sandbox: its other end is a program of the machine.
    if (!isFile) return this.#hold(path, "hideFile");
    if (isCredentialPath(near)) return await this.#hideCredentials(path);
    if (!isObeyed) return false;
    await this.#holdFile(path);
    if (isGit) await this.#holdTargets(await gitFolderOf(dirname(path)), dirname(path));
    return false;
  }

  /** As `#judge`, in a repository's own folder. */
  async #judgeInGit(path: string, entry: Deno.DirEntry): Promise<boolean> {
    const { name, isFile, isDirectory, isSymlink } = entry;
    const folded = foldPath(name)[0] ?? "";
    if (folded === "rebase-merge" || folded === "rebase-apply") {
      await this.#holdUnless(join(path, REBASE_TODO), (text) => !/^\s*(?:x|exec)\s/m.test(text));
    }
    if (folded === BISECT_NAMES && isFile) {
      await this.#holdUnless(path, (text) => /^(?:\s|'[^']*')*$/.test(text));
      return false;
    }
    // A folder that merely may be taken for one has whatever else it has.
    const isInGit = foldPath(path.slice(this.#options.workspace.length)).some(isGitName);
    if (!isInGit && !GIT_OBEYED.has(folded)) return await this.#judge(path, entry);
    if (isGitData([folded])) {
      return this.#judgeData(path, entry) && folded !== "objects" && folded !== "lfs";
    }
    // Repositories of submodules, and what each further worktree has of its own.
    if (isDirectory && (folded === "modules" || folded === "worktrees")) return true;
    if (isDirectory) return this.#obey(path);
    if (isSymlink) return this.#cannotHold(path, LINK);
    if (isFile) await this.#holdFile(path);
    else this.#hold(path, "hideFile");
    return false;
  }

  /** Git makes no links there, and writes through them; a folder is looked through for more. */
  #judgeData(path: string, { isSymlink, isDirectory }: Deno.DirEntry): boolean {
    if (isSymlink && !path.endsWith(HELD_SUFFIX)) this.#look.obeyed.add(path);
    if (isDirectory) this.#data.add(path);
    return isDirectory;
  }

  async #holdTargets(root: string | undefined, top?: string): Promise<void> {
    if (root === undefined) return;
    const { workspace } = this.#options;
    for (const { path, isFolder } of await gitTargets(root, { workspace, top })) {
      const info = await Deno.lstat(path).catch(() => undefined);
      if (info?.isFile) await this.#holdFile(path);
      else if (info?.isDirectory && isFolder) this.#obey(path);
    }
  }

  /** The workspace may lie in somebody's repository. */
  async #holdForOuterGit(): Promise<void> {
    let folder = this.#options.workspace;
    while (dirname(folder) !== folder) {
      folder = dirname(folder);
      await this.#holdTargets(await gitFolderOf(folder), folder);
    }
  }

  /** What git goes on with is data as long as it starts no program. */
  async #holdUnless(path: string, isData: (text: string) => boolean): Promise<void> {
    const text = await readSmall(path);
    const isThere = text !== undefined ||
      await Deno.lstat(path).then(() => true, () => false);
    if (isThere && (text === undefined || !isData(text))) await this.#holdFile(path);
  }

  async #holdFile(path: string): Promise<void> {
    this.#obey(path);
    await this.#holdLinks(path, "readOnly");
  }

  async #hideCredentials(path: string): Promise<false> {
    if (path.includes(NO_UTF8)) return this.#hideUnnamed(path);
    await this.#holdLinks(path, "hideFile");
    return this.#hold(path, "hideFile");
  }

  async #holdLinks(path: string, how: Hold): Promise<void> {
    const info = await Deno.lstat(path).catch(() => undefined);
    if (info === undefined || (info.nlink ?? 1) <= 1) return;
    const key = `${info.dev}:${info.ino}`;
    if (this.#linked.get(key) !== "hideFile") this.#linked.set(key, how);
  }

  async #holdOtherNames(): Promise<void> {
    if (this.#linked.size === 0) return;
    for (const folder of this.#folders) {
      this.#goOn();
      const entries = await Array.fromAsync(Deno.readDir(folder)).catch(() => []);
      for (const { name, isFile } of entries) {
        const path = join(folder, name);
        const info = isFile ? await Deno.lstat(path).catch(() => undefined) : undefined;
        const how = this.#linked.get(`${info?.dev}:${info?.ino}`);
        if (how !== undefined) this.#hold(path, how);
      }
    }
  }

  /** What a link leads to is held if it is seen at all; a link itself can be held by no mount. */
  async #holdLinked(path: string, isObeyed: boolean): Promise<void> {
    const { workspace } = this.#options;
    if (isObeyed) {
      this.#look.obeyed.add(path);
      if (dirname(path) === workspace || isGitName(foldPath(basename(path))[0] ?? "")) {
        return void this.#cannotHold(path, LINK);
      }
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
    if (isObeyed) this.#hold(real, "readOnly");
    else if (info.isDirectory) this.#hide(real);
    else await this.#hideCredentials(real);
  }

  /** What has a name that cannot be said goes with the folder that it is in. */
  #hideUnnamed(path: string): false {
    let above = path;
    while (above.includes(NO_UTF8)) above = dirname(above);
    if (above !== this.#options.workspace) return this.#hide(above);
    return this.#cannotHold(path, "has a name that is no UTF-8, so it cannot be hidden; rename it");
  }

  async #hideOwn(path: string): Promise<void> {
    const { workspace } = this.#options;
    if (isInside(workspace, path) || !isInside(path, workspace)) return;
    const info = await Deno.lstat(path).catch(() => undefined);
    if (info !== undefined) this.#hold(path, info.isDirectory ? "hideFolder" : "hideFile");
  }

  #cannotHold(path: string, reason: string): false {
    this.#look.obeyed.add(path);
    this.#look.unholdable.set(path, reason);
    return false;
  }

  #obey(path: string): false {
    this.#look.obeyed.add(path);
    return this.#hold(path, "readOnly");
  }

  #hide(path: string): false {
    return this.#hold(path, "hideFolder");
  }

  #hold(path: string, how: Hold): false {
    const { held } = this.#look;
    const known = held.get(path);
    // What is hidden stays so; what is read-only is more than pinned.
    if (!isHidden(known) && (known !== "readOnly" || isHidden(how))) held.set(path, how);
    return false;
  }
}

/** Whether nothing of it is seen. */
export function isHidden(how: Hold | undefined): boolean {
  return how === "hideFile" || how === "hideFolder";
}
