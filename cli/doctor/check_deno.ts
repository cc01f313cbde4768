/**
 * @module
 */

import type { Finding } from "./check.ts";

/** The least version that has what this program uses. */
const LEAST_DENO = "2.9.0";

/** Whether the runtime is new enough. */
export function checkDeno(version: string, standalone: boolean): Finding {
  if (standalone) return { status: "ok", detail: `${version}, built in` };
  if (isAtLeast(version, LEAST_DENO)) return { status: "ok", detail: version };
  return {
    status: "fail",
    detail: `${version} is older than ${LEAST_DENO}`,
    fix: "Update it with: deno upgrade",
  };
}

function isAtLeast(version: string, least: string): boolean {
  const [have, want] = [version, least].map((text) => text.split(/[.+-]/).map(Number));
  for (const [at, part] of want!.entries()) {
    const had = have![at] ?? 0;
    if (had !== part) return had > part;
  }
  return true;
}
