/**
 * Which folder a conversation works in: the project where the command was started, once the person has
 * allowed that, else the workspace.
 *
 * @module
 */

import { dirname, join } from "@std/path";
import { folderProblem, type Projects } from "../../lib/authority/projects.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { shellWord } from "../../lib/policy/shell_word.ts";
import type { HomePaths } from "../../lib/config/paths.ts";

/** What choosing needs. */
export interface FolderDeps {
  projects: Pick<Projects, "find" | "decide">;
  paths: HomePaths;
  /** Where the command was started. */
  cwd: string;
  /** `-C`. */
  dir?: string;
  /** The configured workspace; asked for only where a folder is not known yet. */
  workspace(): Promise<string>;
  /** Asks the person about a folder; undefined where nobody sits at a terminal. */
  confirm: ((folder: string) => Promise<boolean>) | undefined;
  note(text: string): void;
}

/**
 * The real path of the project; undefined: the workspace. Rejects with `usage` for a `-C` that can be
 * no project, `refused` for one that is not allowed.
 */
export async function chooseFolder(deps: FolderDeps): Promise<string | undefined> {
  const { projects, paths, cwd, dir, confirm } = deps;
  const start = await realFolder(dir ?? cwd, dir);
  const known = await projects.find(start);
  if (known?.allowed) return known.folder;
  if (dir === undefined && (known !== undefined || confirm === undefined)) return undefined;
  // First what costs nothing to know.
  const workspace = folderProblem(start, undefined, paths) === undefined || dir !== undefined
    ? await Deno.realPath(await deps.workspace()).catch(() => undefined)
    : undefined;
  if (dir !== undefined && start === workspace) return undefined;
  const repository = await repositoryOf(start);
  const candidates = repository === undefined || repository === start
    ? [start]
    : [repository, start];
  const problems = candidates.map((each) => folderProblem(each, workspace, paths));
  const folder = candidates[problems.indexOf(undefined)];
  if (folder === undefined) {
    if (dir === undefined) return undefined;
    throw usage(`Cannot work in ${JSON.stringify(dir)}: ${problems.at(-1)}`);
  }
  const allow = `service projects allow ${shellWord(folder)}`;
  if (await confirm?.(folder)) {
    await projects.decide(folder, true, workspace);
    return folder;
  }
  if (dir !== undefined) {
    throw new ServiceError(
      "refused",
      `The agent may not work in "${folder}". Allow it with: ${allow}`,
      {
        param: "dir",
      },
    );
  }
  await projects.decide(folder, false, workspace);
  deps.note(`Working in the workspace instead. To change your mind: ${allow}`);
  return undefined;
}

async function realFolder(path: string, dir: string | undefined): Promise<string> {
  try {
    const real = await Deno.realPath(path);
    if ((await Deno.stat(real)).isDirectory) return real;
  } catch (error) {
    // The current folder can be gone, and then the workspace does.
    if (dir === undefined) return path;
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  throw usage(`-C: there is no folder ${JSON.stringify(path)}`);
}

/** The nearest folder with a `.git`, from here up. */
async function repositoryOf(start: string): Promise<string | undefined> {
  for (let folder = start;; folder = dirname(folder)) {
    if (await Deno.lstat(join(folder, ".git")).then(() => true, () => false)) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

function usage(message: string): ServiceError {
  return new ServiceError("usage", message, { param: "dir" });
}
