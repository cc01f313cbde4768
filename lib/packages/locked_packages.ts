/**
 * The packages that this program runs with: what fixes their versions, and where Deno keeps them.
 * Modules of this folder run before any package is there, so they import none.
 *
 * @module
 */

import { IS_BUILT, pathOf, ROOT } from "../base/layout.ts";

/** Files that say which packages a process may import. */
export interface ProjectFiles {
  /** deno.json; it names the import map. */
  configFile: string;
  /** What a bare name means. */
  importMap: string;
  /** Fixes versions and hashes. deno.json names none, or `deno task` would fetch all that is in it. */
  lockFile: string;
}

/** Where packages come from. */
export interface LockedPackages extends ProjectFiles {
  /** Deno's own folder. */
  denoDir: string;
}

/** Those in the folder of a project. */
export function projectFiles(root: URL): ProjectFiles {
  const path = (name: string) => pathOf(new URL(name, root));
  return {
    configFile: path("deno.json"),
    importMap: path("imports.json"),
    lockFile: path("deno.lock"),
  };
}

/** Those of this program; undefined where it doesn't run from source. */
function ownFiles(): ProjectFiles | undefined {
  return IS_BUILT || ROOT.protocol !== "file:" ? undefined : projectFiles(ROOT);
}

/** Folder of the built form with the files that say what it fetches. */
export const FETCHED_FOLDER = "packages/";

/** Of what is not held by this program (`notHeld`); undefined where nothing can be fetched. */
export function fetchedPackages(denoDir: string | undefined): LockedPackages | undefined {
  if (!IS_BUILT) return lockedPackages(denoDir);
  if (Deno.build.standalone || denoDir === undefined) return undefined;
  return { ...projectFiles(new URL(FETCHED_FOLDER, ROOT)), denoDir };
}

/** Packages of this program; undefined in the built form, which holds them, and without a folder. */
export function lockedPackages(denoDir: string | undefined): LockedPackages | undefined {
  const files = ownFiles();
  return files === undefined || denoDir === undefined ? undefined : { ...files, denoDir };
}

/** Arguments with which a Deno process imports packages of the lock and no others. */
export function lockedFlags(files: ProjectFiles | undefined = ownFiles()): string[] {
  if (files === undefined) return [];
  return ["--config", files.configFile, `--lock=${files.lockFile}`, "--frozen"];
}
