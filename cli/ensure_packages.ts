/**
 * Has packages on this machine that a command is about to import, or to have imported. Shows how far it
 * is on standard error.
 *
 * @module
 */

import type { WantedPackages } from "../lib/packages/package_fetcher.ts";

/** Throws `config_invalid`, saying what to check. Writes nothing where nothing is missing. */
export async function ensurePackages(wanted: WantedPackages): Promise<void> {
  const [{ createPackageFetcher }, { findOwnDenoDir }, { fetchedPackages }, { progressLine }] =
    await Promise.all([
      import("../lib/packages/package_fetcher.ts"),
      import("../lib/packages/deno_dir.ts"),
      import("../lib/packages/locked_packages.ts"),
      import("../lib/packages/progress_line.ts"),
    ]);
  const env = (name: string) => Deno.env.get(name);
  const packages = fetchedPackages(findOwnDenoDir(env));
  const line = progressLine(Deno.stderr);
  // What goes wrong is in the error.
  const log = { debug() {}, info() {}, warning() {}, error() {} };
  try {
    await createPackageFetcher({ packages, env, log, onProgress: line.show }).ensure(wanted);
  } finally {
    line.end();
  }
}
