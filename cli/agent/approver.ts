/**
 * By what right this command answers the approvals of its own turns: as the terminal that opened them,
 * in the process that owns the home, or with an approver's token.
 *
 * @module
 */

import type { Operator, Terminal } from "../../lib/operations/operator.ts";
import type { LocalClient } from "../../lib/local/client.ts";
import { TOKEN_VARIABLE } from "../operator/approver_token.ts";
import { operateWith } from "../operator/operate_with.ts";

/** Answers approvals of turns that this command opened. */
export interface Approver {
  /** Rejects with the authority's ServiceError. */
  operate: Terminal["operate"];
}

/** Where the right may come from. */
export interface ApproverSources {
  client: LocalClient;
  /** Of the home that this process owns; undefined for a guest. */
  operator: Pick<Operator, "attachTerminal"> | undefined;
  /** Somebody sits at a terminal, or said beforehand what he answers. */
  isAttended: boolean;
  /** Session of the turns that are opened now. */
  sessionKey: () => string;
  env: (name: string) => string | undefined;
}

/** An approver until it is detached; `approver` is undefined when this command has no right to answer. */
export function openApprover(
  { client, operator, isAttended, sessionKey, env }: ApproverSources,
): { approver: Approver | undefined; detach(): void } {
  const nothing = { approver: undefined, detach: () => {} };
  if (!isAttended) return nothing;
  if (operator !== undefined) {
    const terminal: Terminal = operator.attachTerminal(sessionKey);
    return { approver: terminal, detach: () => terminal.detach() };
  }
  const token = env(TOKEN_VARIABLE)?.trim() ?? "";
  return token === "" ? nothing : {
    approver: {
      operate: operateWith(client, token),
    },
    detach: () => {},
  };
}
