/**
 * Configurations of MCP servers for tests: those of the MCP project, and one that misbehaves.
 *
 * @module
 */

import { fromFileUrl } from "@std/path";
import { lockedFlags, projectFiles } from "../../packages/locked_packages.ts";

/** Names as the project's own configuration has them, versions and all. */
const files = projectFiles(new URL("../../../", import.meta.url));
const { imports } = JSON.parse(await Deno.readTextFile(files.importMap));
const deno = await Deno.realPath(Deno.execPath());

/** Deno's folder of packages on this machine. */
export const DENO_DIR: string = Deno.env.get("DENO_DIR") ??
  `${Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`}/deno`;

/** A package of the MCP project over stdio. */
export function npmServer(
  name: "everything" | "filesystem" | "memory",
  args: readonly string[],
  more: Record<string, unknown> & { env?: Record<string, string> } = {},
): Record<string, unknown> {
  return {
    command: [
      ...[deno, "run", "-A", "--cached-only", ...lockedFlags(files)],
      imports[`@modelcontextprotocol/server-${name}`],
      ...args,
    ],
    read: [deno, DENO_DIR, ...Object.values(files)],
    ...more,
    env: { DENO_DIR, ...more.env },
  };
}

/** `odd_server.ts`, started in one of its ways. */
export function oddServer(how = "", more: Record<string, unknown> = {}): Record<string, unknown> {
  const script = fromFileUrl(new URL("odd_server.ts", import.meta.url));
  return {
    command: [deno, "run", "-A", "--no-config", "--no-lock", "--cached-only", script, how],
    read: [deno, script],
    ...more,
  };
}
