/**
 * Which approvals wait, so that a restart can say that they are void (decisions E4).
 *
 * @module
 */

import type { ApprovalView } from "../actions.ts";

/** An approval as it is kept: without what the action would write or send. */
export type PendingApproval = Omit<ApprovalView, "details">;

/** The approvals of a home that wait. */
export interface PendingStore {
  /** Resolves when it is on the disk. */
  add(approval: PendingApproval): Promise<void>;
  /** Of one that was answered, has expired or is void; an unknown id changes nothing. */
  remove(id: string): Promise<void>;
  /**
   * Those that a process left which is gone; for the start, before the first `add`. They are void
   * now, and a record `approval.void` of each goes to the audit: the caller makes none. A damaged file
   * is set aside, for what is in it could release nothing.
   */
  takeAll(): Promise<PendingApproval[]>;
}
