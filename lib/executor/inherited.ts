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

/** A shell, and what a script for it begins with that closes them. */
interface ClosingShell {
  shell: string;
  /** Empty where nothing else is open. */
  close: string;
}

let found: Promise<ClosingShell> | undefined;

/**
 * The shell whose script begins so starts programs with nothing open but their three streams. What bash
 * counts itself with, SHLVL, comes back when it is only unset: what is started has to take it away.
 * Found once: what this process opens itself is never passed on.
 */
export function closingShell(): Promise<ClosingShell> {
  return found ??= find();
}

/** The same as what goes before any command line; empty where nothing else is open. */
export async function closeInherited(): Promise<string[]> {
  const { shell, close } = await closingShell();
  return close === "" ? [] : [shell, "-c", `${close}exec /usr/bin/env -u SHLVL "$@"`, "sh"];
}

async function find(): Promise<ClosingShell> {
  const none = { shell: "/bin/sh", close: "" };
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
  return { shell, close: `exec ${open.map((number) => `${number}>&-`).join(" ")}; ` };
}
