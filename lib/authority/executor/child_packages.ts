/**
 * Where children find the packages that this program itself was started with.
 *
 * @module
 */

import { fromFileUrl } from "@std/path";
import type { ChildPackages } from "./command.ts";

/** For a child that imports packages; undefined in the binary, which holds them, and without a folder. */
export function childPackages(denoDir: string | undefined): ChildPackages | undefined {
  if (Deno.build.standalone || denoDir === undefined) return undefined;
  return {
    configFile: fromFileUrl(new URL("../../../deno.json", import.meta.url)),
    lockFile: fromFileUrl(new URL("../../../deno.lock", import.meta.url)),
    denoDir,
  };
}
