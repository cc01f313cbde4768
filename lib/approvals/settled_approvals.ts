/**
 * How approvals came out that wait no more, so that an answer that comes late is told so.
 *
 * @module
 */

import { type ErrorCode, ServiceError } from "../base/errors.ts";
import type { ApprovalOutcome } from "../contract/actions.ts";
import { visibleCut } from "../base/visible_text.ts";

/** The last so many are remembered. */
const MAX_SETTLED = 1_000;

/** `stopped`: void because the service ended, and not because its requester left. */
type Settled = ApprovalOutcome | "stopped";

const SETTLED_ERRORS: Readonly<Record<Settled, [ErrorCode, string]>> = {
  approved: ["approval_answered", "was approved before"],
  denied: ["approval_answered", "was denied before"],
  expired: ["approval_expired", "was not answered in time; nothing ran"],
  void: [
    "approval_void",
    "is void: whoever asked has left, or no answer could be recorded; nothing ran",
  ],
  stopped: ["approval_stopped", "is void: the service stopped while it waited; nothing ran"],
};

/** The last approvals that were settled. */
export class SettledApprovals {
  readonly #outcomes = new Map<string, Settled>();

  add(id: string, outcome: Settled): void {
    this.#outcomes.set(id, outcome);
    if (this.#outcomes.size > MAX_SETTLED) {
      this.#outcomes.delete(this.#outcomes.keys().next().value!);
    }
  }

  /** What an answer to it fails with. */
  error(id: string): ServiceError {
    const outcome = this.#outcomes.get(id);
    if (outcome === undefined) {
      const shown = visibleCut(id, 64);
      return new ServiceError("approval_not_found", `No approval "${shown}" waits`, {
        param: "id",
      });
    }
    const [code, what] = SETTLED_ERRORS[outcome];
    return new ServiceError(code, `The approval ${id} ${what}`);
  }
}
