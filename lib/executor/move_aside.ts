/**
 * Moves files of the workspace in the sandbox.
 *
 * @module
 */

import { basename, dirname } from "@std/path";
import { commandSandbox, type CommandView } from "./command_sandbox.ts";
import { closeInherited } from "./inherited.ts";
import type { Move } from "./left_behind.ts";
import { EXEC_FILTERED } from "./seccomp_filter.ts";

const NO_UTF8 = "\ufffd";
const MOVES_AT_ONCE = 100;
const TIMEOUT_MS = 30_000;

const SCRIPT = `while [ $# -gt 0 ]; do
  [ -w "\${1%/*}" ] || chmod u+rwx -- "\${1%/*}"
  mv -- "$1" "$2"
  shift 2
done`;

/**
 * A name that is no UTF-8 cannot be given to it, so it looks for those that have other bytes in the same
 * places and whose bytes are none of the names that could be given.
 */
const SCRIPT_UNNAMED = `IFS= LC_ALL=C; cd -- "$1" || exit; pattern=$2 to=$3; shift 3
for name in $pattern; do
  for known do [ "$name" = "$known" ] && continue 2; done
  case $name in *[!\\ -~]*) mv -- "./$name" "$to.$((count += 1)).held" ;; esac
done`;

/** Moves as far as it can; what is left where it was is for the caller to see. */
export async function moveAside(
  moves: readonly Move[],
  { bwrap, filter, ...view }: Pick<CommandView, "workspace" | "guards" | "user"> & {
    bwrap: string;
    /** Path of the filter of system calls. */
    filter: string;
  },
): Promise<void> {
  const { open, args, check } = await commandSandbox({ ...view, cwd: view.workspace });
  const outside = [...await closeInherited(), "/bin/sh", "-c", open + EXEC_FILTERED, filter, bwrap];
  const shell = (
    script: string,
  ) => [...outside, ...args, "/bin/sh", "-c", check.script + script, "sh", ...check.args];
  const named = moves.filter(({ from }) => !from.includes(NO_UTF8));
  for (let at = 0; at < named.length; at += MOVES_AT_ONCE) {
    const pairs = named.slice(at, at + MOVES_AT_ONCE).flatMap(({ from, to }) => [from, to]);
    await run([...shell(SCRIPT), ...pairs]);
  }
  for (const { from, to } of moves) {
    if (!from.includes(NO_UTF8)) continue;
    const folder = dirname(from);
    const parts = basename(from).split(NO_UTF8);
    const pattern = parts.map((part) => part.replace(/[\\*?[\]]/g, "\\$&")).join("?*");
    const like = new RegExp(`^${parts.map((part) => RegExp.escape(part)).join("[^]+")}$`);
    const known: string[] = [];
    for await (const { name } of Deno.readDir(folder)) {
      if (like.test(name) && !name.includes(NO_UTF8)) known.push(name);
    }
    await run([...shell(SCRIPT_UNNAMED), folder, pattern, to, ...known]);
  }
}

async function run([path, ...args]: string[]): Promise<void> {
  await new Deno.Command(path!, {
    args,
    clearEnv: true,
    stdin: "null",
    stdout: "null",
    stderr: "null",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).output();
}
