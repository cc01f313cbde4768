/**
 * Has the packages of what is switched on, such as a channel, on this machine before it is loaded.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import { IS_BUILT } from "../base/layout.ts";
import type { Log } from "../base/log.ts";
import { fetchPackages, type FetchProgress, missingOf, namesOf } from "./fetch_packages.ts";
import type { LockedPackages } from "./locked_packages.ts";
import { notHeld } from "./wanted_packages.ts";

/** How long packages may take, milliseconds. */
const FETCH_TIMEOUT_MS = 180_000;

/** Variables that say where packages come from, and how; the fetch is told of no others. */
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
  "NODE_EXTRA_CA_CERTS",
  "DENO_TLS_CA_STORE",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
];

/** What packages are fetched with. */
export interface PackageFetcherDeps {
  /** Undefined where none can be fetched. */
  packages: LockedPackages | undefined;
  env: (name: string) => string | undefined;
  log: Log;
  /** How far a fetch is, for whoever waits for it. */
  onProgress?: (progress: FetchProgress) => void;
  /** Path of the program that fetches; default: this Deno. */
  program?: string;
  timeoutMs?: number;
  /** Default: whether this is the built form, which holds most packages. */
  isBuilt?: boolean;
}

/** Packages, and what needs them. */
export interface WantedPackages {
  /** For people, such as `the channel irc`. */
  user: string;
  /** Its key in the configuration. */
  param: string;
  /** `npm:<package>@<version>`. */
  dependencies: readonly string[];
}

/** Those that a channel's manifest names. */
export function channelPackages(
  runtimeName: string,
  dependencies: readonly string[],
): WantedPackages {
  return { user: `the channel ${runtimeName}`, param: `channels.${runtimeName}`, dependencies };
}

/** Fetches, one after the other: what one brings, the next may need. */
export interface PackageFetcher {
  /** Resolves when they are there. Rejects with `config_invalid` in words for people. */
  ensure(wanted: WantedPackages): Promise<void>;
  /** Ends what is under way. */
  shutdown(): Promise<void>;
}

export function createPackageFetcher(deps: PackageFetcherDeps): PackageFetcher {
  const { packages, log, timeoutMs = FETCH_TIMEOUT_MS, isBuilt = IS_BUILT } = deps;
  const closing = new AbortController();
  let last: Promise<unknown> = Promise.resolve();

  async function fetchMissing(
    { user, param, dependencies }: WantedPackages,
    packages: LockedPackages,
  ): Promise<void> {
    // What was fetched before may have brought them.
    if (missingOf(dependencies, packages).length === 0) return;
    if (closing.signal.aborted) throw new ServiceError("draining", "The service is stopping");
    log.info(`Fetching the packages of ${user}`);
    const failure = await fetchPackages(dependencies, {
      packages,
      env: pick(deps.env),
      onProgress: deps.onProgress,
      program: deps.program,
      signal: AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)]),
    });
    if (failure === undefined) return;
    const { advice, output } = failure;
    log.warning(`Cannot fetch the packages of ${user}`, { output });
    throw new ServiceError(
      "config_invalid",
      `Cannot fetch ${namesOf(failure)} for ${user}: ${advice}`,
      { param },
    );
  }

  return {
    async ensure({ user, param, dependencies: all }) {
      const dependencies = notHeld(all, { isBuilt });
      if (packages === undefined) {
        if (!isBuilt || dependencies.length === 0) return;
        throw new ServiceError(
          "config_invalid",
          `The compiled binary can't fetch ${
            dependencies.join(", ")
          } for ${user}: use the file for this ` +
            "system that unpacks itself",
          { param },
        );
      }
      // What lacks nothing waits for nobody.
      if (missingOf(dependencies, packages).length === 0) return;
      const fetched = last.then(() => fetchMissing({ user, param, dependencies }, packages));
      last = fetched.catch(() => {});
      await fetched;
    },
    async shutdown() {
      closing.abort();
      await last;
    },
  };
}

function pick(env: PackageFetcherDeps["env"]): Record<string, string> {
  return Object.fromEntries(
    VARIABLES.flatMap((name) => {
      const value = env(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
