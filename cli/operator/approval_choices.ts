/**
 * What a person may answer to an action that waits, in the order in which it is offered.
 *
 * @module
 */

import type { OperationResult } from "../../lib/operations/operations.ts";
import type { Globals } from "../command.ts";
import type { Output } from "../output.ts";

/** An answer, in words. */
export const ANSWERS = {
  once: "Allow once",
  session: "Allow for this session (exactly this)",
  always: "Always allow (adds a grant for exactly this)",
  deny: "Deny",
  reason: "Deny with a reason",
} as const;

/** One of {@linkcode ANSWERS}. */
export type Answer = keyof typeof ANSWERS;

/** Those to an action; where nothing can grant it, it is allowed once or not. */
export function answersTo({ grant }: Pick<OperationResult<"approvals.get">, "grant">): Answer[] {
  const all = Object.keys(ANSWERS) as Answer[];
  return grant === undefined ? all.filter((each) => each !== "session" && each !== "always") : all;
}

/** A grant to a session. */
export interface SessionGrant extends Pick<OperationResult<"approvals.get">, "capability"> {
  subject: string;
  target: string;
}

/** Allows exactly this action of a session from now on. */
export async function addSessionGrant(
  globals: Globals,
  out: Output,
  grant: SessionGrant,
): Promise<void> {
  const { changeState, operatorDeps } = await import("./with_state.ts");
  const note = "allowed in the terminal";
  await changeState(
    operatorDeps(globals),
    out,
    (state) => state.grants.add({ ...grant, note }),
  );
}
