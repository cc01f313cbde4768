/**
 * Has the packages of a channel on this machine before its runtime is loaded (decisions D2, case C9).
 * Deno remembers for as long as it runs that a package was missing, so that none may be imported before.
 *
 * @module
 */

import { join } from "@std/path";
import { ServiceError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import type { ChildPackages } from "../executor/command.ts";
import { killTree, readTail } from "../executor/process_tree.ts";

/** How long packages may take, milliseconds. */
const FETCH_TIMEOUT_MS = 180_000;
const MAX_OUTPUT_BYTES = 4_096;

/** Variables that say where packages come from, and how. */
const VARIABLES = [
  "HOME",
  "PATH",
  "XDG_CACHE_HOME",
  "NPM_CONFIG_REGISTRY",
  "NPM_CONFIG_USERCONFIG",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "DENO_AUTH_TOKENS",
  "DENO_CERT",
  "DENO_TLS_CA_STORE",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
];

/** What packages are fetched with. */
export interface FetchPackagesDeps {
  /** Undefined in the binary, which holds them. */
  packages: ChildPackages | undefined;
  env: (name: string) => string | undefined;
  log: Log;
  /** Path of the program that fetches; default: this Deno. */
  program?: string;
  timeoutMs?: number;
}

/** Packages of a channel. */
export interface WantedPackages {
  runtimeName: string;
  /** URL of what imports them. */
  module: string;
  /** `npm:<package>@<version>`. */
  dependencies: readonly string[];
}

/** Fetches, one channel after the other: what one brings, the next may need. */
export interface PackageFetcher {
  /** Resolves when they are there. Rejects with `config_invalid` in words for people. */
  ensure(wanted: WantedPackages): Promise<void>;
  /** Ends what is under way. */
  shutdown(): Promise<void>;
}

/** See the module. */
export function createPackageFetcher(deps: FetchPackagesDeps): PackageFetcher {
  const { packages, log, timeoutMs = FETCH_TIMEOUT_MS } = deps;
  const closing = new AbortController();
  let last: Promise<unknown> = Promise.resolve();

  async function fetchAll({ runtimeName, module }: WantedPackages, denoDir: string): Promise<void> {
    log.info("The packages of a channel are being fetched", { channel: runtimeName });
    const { code, output } = await run(
      deps.program ?? Deno.execPath(),
      ["cache", "--quiet", "--frozen", "--config", packages!.configFile, module],
      { ...pick(deps.env), DENO_DIR: denoDir, NO_COLOR: "1" },
      AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)]),
    );
    if (code === 0) return;
    log.warning("The packages of a channel cannot be fetched", {
      channel: runtimeName,
      // An address of a registry may hold a password.
      output: output.replace(/\/\/[^\s/@]*@/g, "//"),
    });
  }

  async function fetchMissing(wanted: WantedPackages, denoDir: string): Promise<void> {
    // What was fetched before may have brought them.
    if ((await missingPackages(wanted.dependencies, denoDir)).length === 0) return;
    if (closing.signal.aborted) throw new ServiceError("draining", "The service is stopping");
    await fetchAll(wanted, denoDir);
    const missing = await missingPackages(wanted.dependencies, denoDir);
    if (missing.length === 0) return;
    throw new ServiceError(
      "config_invalid",
      `Cannot fetch ${missing.join(", ")} for the channel ${wanted.runtimeName}: ` +
        "make sure that this machine reaches the package registry; it is tried again",
      { param: `channels.${wanted.runtimeName}` },
    );
  }

  return {
    async ensure(wanted) {
      if (packages === undefined) return;
      const { denoDir } = packages;
      // A channel that lacks nothing waits for none that does.
      if ((await missingPackages(wanted.dependencies, denoDir)).length === 0) return;
      const fetched = last.then(() => fetchMissing(wanted, denoDir));
      last = fetched.catch(() => {});
      await fetched;
    },
    async shutdown() {
      closing.abort();
      await last;
    },
  };
}

/** Those that are in no registry's folder of Deno's cache. */
export async function missingPackages(
  dependencies: readonly string[],
  denoDir: string,
): Promise<string[]> {
  if (dependencies.length === 0) return [];
  const root = join(denoDir, "npm");
  const registries: string[] = [];
  try {
    for await (const { name, isDirectory } of Deno.readDir(root)) {
      if (isDirectory) registries.push(name);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const missing: string[] = [];
  for (const dependency of dependencies) {
    const [, name, version] = /^npm:(.+)@([^@]+)$/.exec(dependency) ?? [];
    const folders = name === undefined
      ? []
      : registries.map((registry) => join(root, registry, name, version!));
    const found = await Promise.all(folders.map(isFolder));
    if (!found.includes(true)) missing.push(dependency);
  }
  return missing;
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isDirectory;
  } catch {
    return false;
  }
}

function pick(env: FetchPackagesDeps["env"]): Record<string, string> {
  return Object.fromEntries(
    VARIABLES.flatMap((name) => {
      const value = env(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Runs a program to its end, or until the signal. */
async function run(
  path: string,
  args: string[],
  env: Record<string, string>,
  signal: AbortSignal,
): Promise<{ code: number; output: string }> {
  const child = new Deno.Command(path, {
    args,
    env,
    clearEnv: true,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
    detached: true,
  }).spawn();
  const kill = () => killTree(child);
  signal.addEventListener("abort", kill, { once: true });
  if (signal.aborted) kill();
  try {
    const [{ code }, output] = await Promise.all([
      child.status,
      readTail(child.stderr, MAX_OUTPUT_BYTES),
    ]);
    return { code: signal.aborted ? 1 : code, output: signal.aborted ? "it was ended" : output };
  } finally {
    signal.removeEventListener("abort", kill);
  }
}
