/**
 * Whether a tool call may run: its own action, and the use of each secret that it asks for as an action
 * of its own (decisions E1, E9).
 *
 * @module
 */

import type { ActionResult, Target } from "../actions.ts";
import { secretTarget } from "../resolve/secret_target.ts";
import type { Allowed, Judge, Judged } from "./judge.ts";

/** A call that may run. */
export interface AllowedCall {
  main: Allowed;
  /** Uses of secrets, in the order in which the call names them. */
  secrets: readonly Allowed[];
}

/** Judges a call that asks for these secrets. What is refused is on record. */
export async function judgeCall(
  judge: Judge,
  judged: Judged,
  names: readonly string[],
): Promise<AllowedCall | { refused: ActionResult }> {
  const uses = names.map((name) => useOf(name, judged)).filter((use) => use !== undefined);
  // A person is not to be asked about a call that is refused for its secrets anyway.
  for (const use of uses) {
    const refused = await judge.refuseAtOnce(use);
    if (refused !== undefined) return { refused };
  }
  const main = await judge.judge(judged);
  if ("refused" in main) return main;
  const secrets: Allowed[] = [];
  for (const use of uses) {
    const allowed = await judge.judge(use);
    if ("refused" in allowed) return allowed;
    secrets.push(allowed);
  }
  // While a person was asked about one, what allowed another may have ended.
  for (const allowed of secrets.length === 0 ? [] : [main, ...secrets]) {
    const refused = await judge.refuseIfEnded(allowed, judged.context);
    if (refused !== undefined) return { refused };
  }
  return { main, secrets };
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
