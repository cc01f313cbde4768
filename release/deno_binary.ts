/**
 * Deno's own program for a platform, from the package that its makers publish, checked against
 * `deno_binaries.lock`.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { findOwnDenoDir } from "../lib/packages/deno_dir.ts";
import { fetchPackages, namesOf } from "../lib/packages/fetch_packages.ts";
import { packageFolder, registriesIn } from "../lib/packages/missing_packages.ts";
import { DENO_VERSION, type Target } from "./targets.ts";

/** Path of the program. Rejects when it can't be had. */
export async function denoBinary({ name, denoPackage }: Target): Promise<string> {
  const id = `${denoPackage}@${DENO_VERSION}`;
  const denoDir = findOwnDenoDir((name) => Deno.env.get(name))!;
  const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));
  const configFile = file("deno_binaries.json");
  const failure = await fetchPackages([`npm:${id}`], {
    packages: {
      configFile,
      importMap: configFile,
      lockFile: file("deno_binaries.lock"),
      denoDir,
    },
  });
  if (failure !== undefined) throw new Error(`Cannot fetch ${namesOf(failure)}: ${failure.advice}`);
  const folder = packageFolder(id, registriesIn(denoDir))!;
  return `${folder}/${name === "windows-x64" ? "deno.exe" : "deno"}`;
}
