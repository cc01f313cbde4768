/**
 * What people are told of dry runs of automations.
 *
 * @module
 */

import type { Finding } from "../contract/finding.ts";

/** What a dry run came to. */
export interface CommissionReport {
  finding: Finding;
  /** What the model said last; for a turn that failed, nothing. */
  text: string;
  /** Why the turn failed. */
  error?: string;
  turnId: string;
  /** Of all its model calls together. */
  inputTokens: number;
  outputTokens: number;
}

/** A finding, and whether it is of the automation as it is now. */
export interface CurrentFinding {
  finding: Finding;
  isCurrent: boolean;
}
