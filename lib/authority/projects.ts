/**
 * Folders besides the workspace that turns may work in, as the person decided: `projects.json` in the
 * home, which nothing but the launcher and commands of its owner can reach.
 *
 * @module
 */

import { writeFileAtomic } from "../base/atomic_write.ts";
import { ServiceError } from "../base/errors.ts";
import { isInside } from "../base/inside.ts";
import { sourcePaths } from "../base/layout.ts";
import { isCredentialPath } from "../base/protected_names.ts";
import { realPathOf } from "../base/real_path.ts";
import type { HomePaths } from "../config/paths.ts";
import { StateLock } from "../state/state_lock.ts";

/** A folder that the person was asked about. */
export interface Project {
  /** Real path. */
  folder: string;
  /** False: the person said no, and is not asked again. */
  allowed: boolean;
  /** Milliseconds since 1970. */
  decidedAt: number;
}

/** Where things are. */
export type ProjectPaths = Pick<
  HomePaths,
  "home" | "userHome" | "configFile" | "socketDir" | "projectsFile"
>;

/** What sandboxes show of the system: none of it is a project, nor a folder that holds it; links count too. */
const SYSTEM_FOLDERS = [
  "/bin",
  "/boot",
  "/dev",
  "/etc",
  "/home",
  "/lib",
  "/lib64",
  "/proc",
  "/run",
  "/sbin",
  "/sys",
  "/tmp",
  "/usr",
  "/var",
];
/** Nothing in these is one either. */
const KERNEL_FOLDERS = ["/boot", "/dev", "/etc", "/proc", "/sys"];

/** The remembered decisions. */
export class Projects {
  readonly #paths: ProjectPaths;
  readonly #lock: StateLock;
  readonly #onAllow: ((folder: string) => Promise<void>) | undefined;

  /** `onAllow` puts on record that a folder is about to be allowed; rejecting, it isn't. */
  constructor(paths: ProjectPaths, onAllow?: (folder: string) => Promise<void>) {
    this.#paths = paths;
    this.#onAllow = onAllow;
    this.#lock = new StateLock({ path: `${paths.projectsFile}.lock` });
  }

  /** Sorted by folder. Throws `config_invalid` for a file that is damaged. */
  async list(): Promise<Project[]> {
    const { projectsFile } = this.#paths;
    let text: string;
    try {
      text = await Deno.readTextFile(projectsFile);
    } catch (error) {
      // A home that is no folder is told by who takes it.
      const isNone = error instanceof Deno.errors.NotFound ||
        error instanceof Deno.errors.NotADirectory;
      if (isNone) return [];
      throw error;
    }
    try {
      const { projects } = JSON.parse(text);
      if (projects.every(isProject)) return projects;
    } catch {
      // Told below.
    }
    throw new ServiceError(
      "config_invalid",
      `Cannot read ${projectsFile}: expected {"projects": [{"folder": …, "allowed": …}]}. ` +
        "Delete it to be asked about each folder again",
      { param: projectsFile },
    );
  }

  /** The decision on a folder: its own, or that on the nearest one above it. */
  async find(folder: string): Promise<Project | undefined> {
    return nearest(await this.list(), folder);
  }

  /** Remembers a decision. Throws `invalid_request` for a folder that can't be allowed. */
  async decide(
    folder: string,
    allowed: boolean,
    workspace: string | undefined,
  ): Promise<void> {
    await this.#change(() => this.#decide(folder, allowed, workspace));
  }

  async #decide(folder: string, allowed: boolean, workspace: string | undefined): Promise<void> {
    const others = (await this.list()).filter((each) => each.folder !== folder);
    if (allowed) {
      const problem = folderProblem(folder, workspace, this.#paths) ?? overlap(folder, others);
      if (problem !== undefined) throw cannotAllow(folder, problem);
      await this.#onAllow?.(folder);
    }
    await this.#write([...others, { folder, allowed, decidedAt: Date.now() }]);
  }

  /** False when nothing was decided on it. */
  async forget(folder: string): Promise<boolean> {
    return await this.#change(async () => {
      const all = await this.list();
      const others = all.filter((each) => each.folder !== folder);
      if (others.length < all.length) await this.#write(others);
      return others.length < all.length;
    });
  }

  /** Throws `refused` unless a turn may work in this very folder now. */
  async check(folder: string, workspace: string): Promise<void> {
    const isAllowed = (await this.list()).some((each) => each.folder === folder && each.allowed);
    if (!isAllowed) {
      throw new ServiceError(
        "refused",
        `The agent may not work in "${folder}". Allow it with: service projects allow ${folder}`,
        { param: "folder" },
      );
    }
    const problem = await unreachable(folder) ?? folderProblem(folder, workspace, this.#paths);
    if (problem !== undefined) {
      throw new ServiceError("refused", `The agent cannot work in "${folder}": ${problem}`, {
        param: "folder",
      });
    }
  }

  async #change<T>(work: () => Promise<T>): Promise<T> {
    // The first question may come before anything else of the home is there.
    await Deno.mkdir(this.#paths.home, { recursive: true, mode: 0o700 });
    return await this.#lock.run(work);
  }

  async #write(projects: readonly Project[]): Promise<void> {
    const sorted = projects.toSorted((a, b) => a.folder < b.folder ? -1 : 1);
    const { projectsFile } = this.#paths;
    const text = JSON.stringify({ projects: sorted }, null, 2);
    await writeFileAtomic(projectsFile, `${text}\n`, { mode: 0o600 });
  }
}

/**
 * Why a folder (a real path) can't be a project; undefined: it can. Without a workspace that is not
 * looked at.
 */
export function folderProblem(
  folder: string,
  workspace: string | undefined,
  { home, userHome, configFile, socketDir }: Omit<ProjectPaths, "projectsFile">,
): string | undefined {
  // It stands in the system prompt.
  if (/[\p{C}\p{Zl}\p{Zp}]/u.test(folder)) return "its path holds hidden characters";
  if (isInside(realPathOf(userHome), folder)) return "it is or holds your home folder";
  // The kernel's folders are no links, and Deno resolves none of them without every permission.
  const places = SYSTEM_FOLDERS.flatMap((each) =>
    KERNEL_FOLDERS.includes(each) ? [each] : [each, realPathOf(each)]
  );
  if (places.some((each) => isInside(each, folder))) return "it is or holds a system folder";
  if (KERNEL_FOLDERS.some((each) => isInside(folder, each))) return "it lies in a system folder";
  if (isCredentialPath(folder)) return "it is a place for keys and passwords";
  for (const own of [home, configFile, socketDir].map(realPathOf)) {
    if (isInside(folder, own) || isInside(own, folder)) {
      return `it and the service's own "${own}" lie in each other`;
    }
  }
  const source = sourcePaths([""]).map((path) => path.replace(/[/\\]$/, ""))
    .find((path) => isInside(folder, path));
  if (source !== undefined) return `it lies in the program's own folder "${source}"`;
  if (workspace === undefined) return undefined;
  const real = realPathOf(workspace);
  if (isInside(folder, real) || isInside(real, folder)) {
    return `it and the workspace "${real}" lie in each other`;
  }
  return undefined;
}

/** Commands of two folders run beside each other, so one must not hold what the other guards. */
function overlap(folder: string, others: readonly Project[]): string | undefined {
  const found = others.find((each) =>
    each.allowed && (isInside(each.folder, folder) || isInside(folder, each.folder))
  );
  if (found === undefined) return undefined;
  return isInside(folder, found.folder)
    ? `it lies in "${found.folder}", which is allowed already`
    : `it holds "${found.folder}", which is allowed already. Forget that one first`;
}

async function unreachable(folder: string): Promise<string | undefined> {
  try {
    const real = await Deno.realPath(folder);
    if (real !== folder) return `it leads to "${real}" now`;
    return (await Deno.stat(folder)).isDirectory ? undefined : "it is no folder";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "it is not there";
    return `the running service may not read it (${(error as Error).message}). ` +
      "Restart the service with access to it";
  }
}

function nearest(projects: readonly Project[], folder: string): Project | undefined {
  return projects.filter((each) => isInside(folder, each.folder))
    .toSorted((a, b) => b.folder.length - a.folder.length)[0];
}

function cannotAllow(folder: string, problem: string): ServiceError {
  return new ServiceError("invalid_request", `Cannot allow "${folder}": ${problem}`, {
    param: "folder",
  });
}

function isProject(value: unknown): value is Project {
  const { folder, allowed } = value as Partial<Project>;
  return typeof folder === "string" && typeof allowed === "boolean";
}
