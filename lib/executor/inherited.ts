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

/** How a script goes that closes them. */
interface ClosingShell {
  shell: string;
  /** What it begins with. */
  close: string;
  /** What goes before the program: bash counts itself, and that comes back when it is only unset. */
  become: readonly string[];
}

let found: Promise<ClosingShell> | undefined;

/**
 * A shell whose programs have nothing open but their three streams. Found once: what this process opens
 * itself is never passed on.
 */
export function closingShell(): Promise<ClosingShell> {
  return found ??= find();
}

/** The same as what goes before a command line; empty where nothing else is open. */
export async function closeInherited(): Promise<string[]> {
  const { shell, close, become } = await closingShell();
  return close === "" ? [] : [shell, "-c", `${close}exec "$@"`, "sh", ...become];
}

async function find(): Promise<ClosingShell> {
  const none = { shell: "/bin/sh", close: "", become: [] };
  if (Deno.build.os !== "linux") return none;
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
  if (open.length === 0) return none;
  // The plainest shells know descriptors of one digit only.
  const shell = open.every((number) => number < 10) ? "/bin/sh" : await findProgram("bash");
  if (shell === undefined) return none;
  const close = `exec ${open.map((number) => `${number}>&-`).join(" ")}; `;
  return { shell, close, become: ["/usr/bin/env", "-u", "SHLVL"] };
}
