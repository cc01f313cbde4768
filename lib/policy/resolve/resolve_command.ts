/**
 * From a command as a tool names it to what would be started: the whole argv, the real program and the
 * real folder. A text for the shell is not parsed: nobody can say for sure what
 * it runs, so the decision is about all of it.
 *
 * @module
 */

import { isAbsolute, join } from "@std/path";
import type { CommandTarget, UnresolvedTarget } from "../../contract/actions.ts";
import { isInside } from "../../base/inside.ts";
import { resolveHosts } from "./resolve_hosts.ts";
import { resolvePath, type Workspace } from "./resolve.ts";

/** Where programs are looked for, here and in the sandbox. Not PATH: an environment is no authority. */
export const COMMAND_PATH: readonly string[] = ["/usr/local/bin", "/usr/bin", "/bin"];

/** What the sandbox shows of the machine's programs. */
export const PROGRAM_ROOTS: readonly string[] = ["/usr", "/bin", "/sbin", "/nix/store"];

const SHELL = "/bin/sh";

/** A command as a tool names it. */
export interface NamedCommand {
  /** A text for the shell, or a program and its arguments. */
  command: string | readonly string[];
  /** In or relative to the workspace. */
  cwd: string;
  /** Hosts that it wants to reach. */
  hosts?: readonly string[];
}

/** What a command would start, or why that cannot be said. */
export async function resolveCommand(
  { command, cwd, hosts = [] }: NamedCommand,
  workspace: Workspace,
): Promise<CommandTarget | UnresolvedTarget> {
  const given = typeof command === "string" ? [SHELL, "-c", command] : command;
  const unresolved = (reason: string): UnresolvedTarget => ({
    kind: "unresolved",
    what: given.join(" ").slice(0, 200),
    reason,
  });
  const problem = argvProblem(given);
  if (problem !== undefined) return unresolved(problem);
  const folder = await resolvePath(cwd, "read", workspace);
  if (folder.kind === "unresolved") return unresolved(`cwd: ${folder.reason}`);
  if (folder.file === undefined) return unresolved(`cwd: there is no folder "${folder.real}"`);
  if (!folder.file.isDirectory) return unresolved(`cwd: "${folder.real}" is no folder`);
  if (!isInside(folder.real, workspace.real)) {
    return unresolved(`cwd: "${folder.real}" is outside the workspace`);
  }
  const found = await findProgram(given[0]!, { cwd: folder.real, roots: [workspace.real] });
  if ("reason" in found) return unresolved(found.reason);
  const network = resolveHosts(hosts);
  if ("problem" in network) return unresolved(network.problem);
  return {
    kind: "command",
    argv: [...given],
    program: found.program,
    cwd: folder.real,
    ...network.hosts.length === 0 ? {} : { hosts: network.hosts },
  };
}

function argvProblem(argv: readonly string[]): string | undefined {
  if (argv[0] === undefined || argv[0] === "") return "it names no program";
  for (const [index, text] of argv.entries()) {
    if (text.includes("\0")) return `part ${index} of it holds a NUL`;
    if (!text.isWellFormed()) return `part ${index} of it holds half of a character`;
  }
}

/** What the system starts under a name. */
export type FoundProgram = {
  /** Its real path. */
  program: string;
  /** Where it was found; a link to it perhaps. */
  path: string;
} | { reason: string };

/**
 * What the system starts under a name: a program of the system, or one in a folder of `roots`, which are
 * real paths.
 */
export async function findProgram(
  name: string,
  { cwd, roots }: { cwd: string; roots: readonly string[] },
): Promise<FoundProgram> {
  if (!name.includes("/")) {
    for (const folder of COMMAND_PATH) {
      const found = await lookAt(`${folder}/${name}`, roots);
      if (found !== undefined && "program" in found) return found;
    }
    return { reason: `no program "${name}" is in ${COMMAND_PATH.join(", ")}` };
  }
  const path = isAbsolute(name) ? name : join(cwd, name);
  return await lookAt(path, roots) ?? { reason: `there is no program "${path}"` };
}

async function lookAt(
  path: string,
  roots: readonly string[],
): Promise<FoundProgram | undefined> {
  let program: string;
  let info: Deno.FileInfo;
  try {
    program = await Deno.realPath(path);
    info = await Deno.stat(program);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    const reason = error instanceof Error ? error.message : String(error);
    return { reason: `the program "${path}" cannot be looked at: ${reason}` };
  }
  if (!info.isFile) return { reason: `"${program}" is no file` };
  if (((info.mode ?? 0) & 0o111) === 0) return { reason: `"${program}" is not executable` };
  if ([...roots, ...PROGRAM_ROOTS].some((root) => isInside(program, root))) {
    return { program, path };
  }
  return { reason: `"${program}" is neither the system's nor in the workspace` };
}
