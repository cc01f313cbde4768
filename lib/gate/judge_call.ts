/**
 * Whether a tool call may run: its own action, and as actions of their own the use of each secret that
 * it asks for and the reading of each file that it sends.
 *
 * @module
 */

import type { ActionResult, Target } from "../contract/actions.ts";
import { resolvePath, type Workspace } from "../policy/resolve/resolve.ts";
import { secretTarget } from "../policy/resolve/secret_target.ts";
import type { Allowed, Judge, Judged } from "./judge.ts";

/** A call that may run. */
export interface AllowedCall {
  main: Allowed;
  /** Uses of secrets, in the order in which the call names them. */
  secrets: readonly Allowed[];
  /** Reading of the files that it sends, likewise. */
  files: readonly Allowed[];
}

/** What a call needs beside its own action. */
export interface Needs {
  /** Names of secrets. */
  secrets: readonly string[];
  /** Paths of files, in or relative to the workspace. */
  files: readonly string[];
}

/** Judges a call with its needs. What is refused is on record. */
export async function judgeCall(
  judge: Judge,
  judged: Judged,
  needs: Needs,
  workspace: Workspace,
): Promise<AllowedCall | { refused: ActionResult }> {
  const uses = await usesOf(needs, judged, workspace);
  // A person is not to be asked about a call that is refused for one of these anyway.
  for (const use of uses) {
    const refused = await judge.refuseAtOnce(use);
    if (refused !== undefined) return { refused };
  }
  const main = await judge.judge(judged);
  if ("refused" in main) return main;
  const used: Allowed[] = [];
  for (const use of uses) {
    const allowed = await judge.judge(use);
    if ("refused" in allowed) return allowed;
    used.push(allowed);
  }
  // While a person was asked about one, what allowed another may have ended.
  for (const allowed of used.length === 0 ? [] : [main, ...used]) {
    const refused = await judge.refuseIfEnded(allowed, judged.context);
    if (refused !== undefined) return { refused };
  }
  const isSecret = ({ action }: Allowed) => action.capability === "secret.use";
  return {
    main,
    secrets: used.filter(isSecret),
    files: used.filter((allowed) => !isSecret(allowed)),
  };
}

/** The actions that a call's needs are, in their order. */
export async function usesOf(
  { secrets, files }: Needs,
  judged: Judged,
  workspace: Workspace,
): Promise<Judged[]> {
  const uses = secrets.map((name) => useOf(name, judged)).filter((use) => use !== undefined);
  const reads = await Promise.all(files.map((path) => readOf(path, judged, workspace)));
  return [...uses, ...reads];
}

async function readOf(path: string, judged: Judged, workspace: Workspace): Promise<Judged> {
  const resolve = () => resolvePath(path, "read", workspace);
  return {
    ...judged,
    tool: { name: judged.tool.name, capability: "fs.read" },
    args: { path },
    target: await resolve(),
    resolve,
  };
}

/** The use of a secret by a call; undefined when its target is nobody who could be given one. */
export function useOf(name: string, judged: Judged): Judged & { target: Target } | undefined {
  const target = secretTarget(name, judged.target);
  if (target === undefined) return undefined;
  return {
    ...judged,
    tool: { name: judged.tool.name, capability: "secret.use" },
    target,
    resolve: async () => {
      const now = await judged.resolve();
      return secretTarget(name, now) ?? {
        kind: "unresolved",
        what: name,
        reason: "what it would be given to is gone",
      };
    },
  };
}
