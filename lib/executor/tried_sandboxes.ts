/**
 * The sandboxes of children, each tried out once before it is relied on: every executor of a process
 * starts its children in the same ones.
 *
 * @module
 */

import {
  type ChildRights,
  type Confinement,
  findConfinement,
  SANDBOX_CACHE_DIR,
  sandboxBase,
  sandboxView,
} from "./sandbox.ts";
import { EXEC_FILTERED, writeSeccompFilter } from "./seccomp_filter.ts";

/** A sandbox that works. */
export interface TriedSandbox {
  bwrap: string;
  /** Path of the seccomp filter. */
  filter: string;
  /** First arguments of bwrap. */
  base: readonly string[];
}

const PROBE_TIMEOUT_MS = 10_000;

export class TriedSandboxes {
  readonly #folder: string;
  readonly #isOff: boolean;
  readonly #tried = new Map<string, Promise<TriedSandbox | { problem: string }>>();
  #found: Promise<Confinement> | undefined;

  /** `folder`: one of ours, made where it is missing. `off` never uses a sandbox; for tests. */
  constructor({ folder, sandbox }: { folder: string; sandbox?: "auto" | "off" }) {
    this.#folder = folder;
    this.#isOff = sandbox === "off";
  }

  /** The programs that make them; starts none. */
  find(): Promise<Confinement> {
    return this.#found ??= this.#isOff
      ? Promise.resolve({ reason: "the sandbox is switched off" })
      : findConfinement();
  }

  /**
   * The one for children of these rights, or why there is none. Rejects where it could not be tried out,
   * which says nothing of the next time.
   */
  of(rights: ChildRights): Promise<TriedSandbox | { problem: string }> {
    const key = JSON.stringify(rights) ?? "own";
    const known = this.#tried.get(key);
    if (known !== undefined) return known;
    const tried = this.#try(rights).catch((error) => {
      this.#tried.delete(key);
      throw error;
    });
    this.#tried.set(key, tried);
    return tried;
  }

  async #try(rights: ChildRights): Promise<TriedSandbox | { problem: string }> {
    const { bwrap, reason } = await this.find();
    if (bwrap === undefined) return { problem: reason };
    const program = await Deno.realPath(Deno.execPath());
    const filter = await writeSeccompFilter(this.#folder);
    const base = await sandboxBase(program, rights);
    const view = { readOnly: [], readWrite: [], network: false };
    const user = rights === "root" ? undefined : rights;
    const inside = sandboxView(view, { DENO_DIR: SANDBOX_CACHE_DIR }, { user });
    const sandbox = ["-c", EXEC_FILTERED, filter, bwrap, ...base, ...inside];
    const problem = await tryOut("/bin/sh", [...sandbox, program, "--version"]);
    return problem === undefined ? { bwrap, filter, base } : { problem };
  }
}

/** Why a program does not run, or undefined when it does. Rejects when it does not start or end. */
async function tryOut(path: string, args: string[]): Promise<string | undefined> {
  const late = AbortSignal.timeout(PROBE_TIMEOUT_MS);
  const { success, stderr } = await new Deno.Command(path, {
    args,
    clearEnv: true,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
    signal: late,
  }).output();
  if (success) return undefined;
  if (late.aborted) throw new Error(`the trial took longer than ${PROBE_TIMEOUT_MS / 1_000} s`);
  return new TextDecoder().decode(stderr).trim().split("\n").at(-1) || "it failed without a word";
}
