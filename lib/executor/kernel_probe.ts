/**
 * How the sandbox's self-test starts `probe_kernel.ts` inside: by Deno, as nothing else that is on every
 * machine can make a system call of any number.
 *
 * @module
 */

import { basename, fromFileUrl } from "@std/path";
import { entryUrl } from "../base/entries.ts";
import { CHILD_ARGUMENT } from "./command.ts";
import { memoryFolder } from "./sandbox.ts";

/** Folder of it all inside. */
const INSIDE = "/.probe";
const CACHE_BYTES = 64 * 1024 * 1024;
const MODULE = fromFileUrl(entryUrl("probe_kernel"));

/** What bwrap has to show it. */
export async function kernelProbeMounts(): Promise<string[]> {
  return [
    ...memoryFolder(INSIDE, CACHE_BYTES),
    ...["--ro-bind", await Deno.realPath(Deno.execPath()), `${INSIDE}/program`],
    ...(Deno.build.standalone ? [] : ["--ro-bind", MODULE, `${INSIDE}/${basename(MODULE)}`]),
  ];
}

/** Its command line. */
export function kernelProbeCommand(): string[] {
  const env = ["/usr/bin/env", `DENO_DIR=${INSIDE}`, "DENO_NO_UPDATE_CHECK=1"];
  const program = [...env, `${INSIDE}/program`];
  if (Deno.build.standalone) return [...program, CHILD_ARGUMENT, "probe_kernel"];
  const flags = ["--no-config", "--no-lock", "--no-npm", "--no-remote", "--cached-only"];
  const module = `${INSIDE}/${basename(MODULE)}`;
  return [...program, "run", "--quiet", "--no-prompt", ...flags, "--allow-ffi", module];
}
