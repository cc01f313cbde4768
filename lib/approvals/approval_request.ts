/**
 * What is asked of the approvals of a process, and how that comes out.
 *
 * @module
 */

import type { ActionContext, ApprovalEvent, ResolvedAction } from "../contract/actions.ts";

/** An action that is to wait. */
export interface ApprovalRequest {
  action: ResolvedAction;
  context: ActionContext;
  /** Either aborts: whoever asked has left, or the action is not wanted any more. */
  signals: readonly AbortSignal[];
  onEvent: (event: ApprovalEvent) => void;
}

/** How it came out; `full` means that too many wait, and nobody was asked. */
export type Answered =
  | { outcome: "approved"; by: string }
  | { outcome: "denied"; reason: string }
  | { outcome: "expired" }
  | { outcome: "void" }
  | { outcome: "full" };

/** An answer of somebody who has shown who he is. */
export interface Answer {
  id: string;
  verdict: { approve: { digest: string } } | { deny: { reason: string } };
  /** For the record, such as `token:tok_…`. */
  by: string;
  /** In a chat the first 8 digits of the digest are enough, for what a chat shows whole. */
  isChat: boolean;
  /** Why he may not answer this one; undefined when he may. */
  objection: (context: ActionContext) => string | undefined;
}
