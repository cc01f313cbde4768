/**
 * Keeps from every child what the service itself was started with: files and pipes that whoever started
 * it left open. A cleared environment and a sandbox take away names, and an open file needs none.
 *
 * @module
 */

import { findProgram } from "./sandbox.ts";

const PROBE_TIMEOUT_MS = 5_000;

/** Lists what a child has open beside its three streams. */
const LIST = 'for fd in /proc/self/fd/*; do [ -e "$fd" ] && echo "${fd##*/}"; done; :';

let found: Promise<readonly string[]> | undefined;

/**
 * What goes before a command line so that the program has nothing open but its three streams; empty
 * where nothing else is open. Found once: what this process opens itself is never passed on.
 */
export function closeInherited(): Promise<readonly string[]> {
  return found ??= find();
}

async function find(): Promise<readonly string[]> {
  if (Deno.build.os !== "linux") return [];
  const { stdout } = await new Deno.Command("/bin/sh", {
    args: ["-c", LIST],
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "null",
    signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
  }).output();
  const open = new TextDecoder().decode(stdout).split("\n").filter((line) => /^\d+$/.test(line))
    .map(Number).filter((number) => number > 2);
  if (open.length === 0) return [];
  // The plainest shells know descriptors of one digit only.
  const shell = open.every((number) => number < 10) ? "/bin/sh" : await findProgram("bash");
  if (shell === undefined) return [];
  const close = open.map((number) => `${number}>&-`).join(" ");
  // What bash counts itself with is nobody's business; it comes back when it is only unset.
  return [shell, "-c", `exec ${close}; exec /usr/bin/env -u SHLVL "$@"`, "sh"];
}
