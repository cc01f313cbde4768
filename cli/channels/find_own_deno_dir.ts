import { homedir } from "node:os";
import { findDenoDir } from "../../lib/authority/executor/deno_dir.ts";
import type { Env } from "../../lib/config/references.ts";

/** The folder of Deno's packages, as the service of this user has it. */
export function findOwnDenoDir(env: Env): string | undefined {
  return findDenoDir({ env, cwd: Deno.cwd(), home: homedir(), os: Deno.build.os });
}
