/**
 * Has packages on this machine before anything imports them: Deno remembers for as long as it runs that
 * a package was missing.
 *
 * @module
 */

import { killTree, readTail, spawnTree } from "../base/process_tree.ts";
import { type Lock, lockedClosure } from "./locked_closure.ts";
import { lockedFlags, type LockedPackages } from "./locked_packages.ts";
import { missingPackages, packageFolder, registriesIn } from "./missing_packages.ts";

const MAX_OUTPUT_BYTES = 4_096;
/** How often progress is looked at, milliseconds. */
const LOOK_MS = 100;

/** How far a fetch is. */
export interface FetchProgress {
  /** Packages that have come. */
  fetched: number;
  /** Packages that were missing. */
  total: number;
  /** Size on the disk of those that have come. */
  bytes: number;
}

/** Why packages could not be had. */
export interface FetchFailure {
  /** `<name>@<version>` of those that are still missing, first the one that it failed at. */
  missing: readonly [string, ...string[]];
  /** What to check or do, as the end of a sentence. */
  advice: string;
  /** What Deno said, for a log. */
  output: string;
}

/** What packages are fetched with. */
export interface FetchOptions {
  packages: LockedPackages;
  /** The whole environment of the process that fetches; default: that of this one. */
  env?: Readonly<Record<string, string>>;
  /** Ends the fetch; what has come until then stays. */
  signal?: AbortSignal;
  /** Called before the fetch and while it goes on; not where nothing is missing. */
  onProgress?: (progress: FetchProgress) => void;
  /** Path of the program that fetches; default: this Deno. */
  program?: string;
}

/** Fetches what is missing of `npm:<name>@<version>` and all that they depend on. */
export async function fetchPackages(
  dependencies: readonly string[],
  options: FetchOptions,
): Promise<FetchFailure | undefined> {
  const { packages, onProgress } = options;
  const wanted = missingOf(dependencies, packages);
  if (wanted.length === 0) return undefined;
  const progress = watchProgress(wanted, packages.denoDir);
  onProgress?.(progress());
  const timer = setInterval(() => onProgress?.(progress()), LOOK_MS);
  const output = await runDeno(dependencies, options).finally(() => clearInterval(timer));
  onProgress?.(progress());
  const [first, ...rest] = missingPackages(wanted, packages.denoDir);
  if (first === undefined) return undefined;
  const culprit = [first, ...rest].find((id) => output.includes(id)) ?? first;
  return {
    missing: [culprit, ...[first, ...rest].filter((id) => id !== culprit)],
    advice: adviceOn(output, packages),
    output,
  };
}

/** `<name>@<version>` of what is missing of dependencies and all that they depend on. */
export function missingOf(
  dependencies: readonly string[],
  { lockFile, denoDir }: Pick<LockedPackages, "lockFile" | "denoDir">,
): string[] {
  if (dependencies.length === 0) return [];
  const lock = JSON.parse(Deno.readTextFileSync(lockFile)) as Lock;
  return missingPackages(lockedClosure(dependencies, lock), denoDir);
}

/** The failure as the begin of a sentence: which packages, and how many more. */
export function namesOf({ missing: [first, ...rest] }: FetchFailure): string {
  const more = rest.length === 1 ? "1 more package" : `${rest.length} more packages`;
  return rest.length === 0 ? first : `${first} and ${more}`;
}

/** Runs Deno until it has fetched all or given up. Resolves with the end of what it said. */
async function runDeno(
  dependencies: readonly string[],
  { packages, env, signal, program = Deno.execPath() }: FetchOptions,
): Promise<string> {
  if (signal?.aborted) return "";
  const argv = [program, "cache", "--quiet", ...lockedFlags(packages), ...dependencies];
  const child = spawnTree(argv, {
    cwd: packages.configFile.replace(/[/\\][^/\\]*$/, "") || "/",
    env: { ...env, DENO_DIR: packages.denoDir, NO_COLOR: "1" },
    clearEnv: env !== undefined,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  });
  const kill = () => killTree(child);
  signal?.addEventListener("abort", kill, { once: true });
  try {
    const [output] = await Promise.all([readTail(child.stderr, MAX_OUTPUT_BYTES), child.status]);
    // An address of a registry may hold a password.
    return output.replace(/\/\/[^\s/@]*@/g, "//");
  } finally {
    signal?.removeEventListener("abort", kill);
  }
}

function watchProgress(ids: readonly string[], denoDir: string): () => FetchProgress {
  const sizes = new Map<string, number>();
  return () => {
    const registries = registriesIn(denoDir);
    for (const id of ids) {
      if (sizes.has(id)) continue;
      const folder = packageFolder(id, registries);
      if (folder !== undefined) sizes.set(id, sizeOf(folder));
    }
    const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    return { fetched: sizes.size, total: ids.length, bytes };
  };
}

/** Of all files in a folder, bytes. */
export function sizeOf(folder: string): number {
  let bytes = 0;
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    const path = `${folder}/${name}`;
    bytes += isDirectory ? sizeOf(path) : Deno.lstatSync(path).size;
  }
  return bytes;
}

function adviceOn(output: string, { denoDir, lockFile }: LockedPackages): string {
  if (/No space left|os error (28|112)\b/i.test(output)) {
    return `the disk that holds ${denoDir} is full; free some space on it`;
  }
  if (/Read-only file system|Permission denied|os error (5|13|30)\b/i.test(output)) {
    return `${denoDir} can't be written; make it writable, or name another folder with DENO_DIR`;
  }
  if (/integrity|checksum/i.test(output)) {
    return `what the package registry sent is not what ${lockFile} names; check the registry that ` +
      "npm is configured with";
  }
  if (/invalid peer certificate/i.test(output)) {
    return "the certificate of the package registry is not trusted here; name the file of its " +
      "authority with DENO_CERT";
  }
  return "make sure that this machine reaches the package registry";
}
