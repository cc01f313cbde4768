/**
 * What approvers and operators may ask of the authority, as plain data, and by what they are known. The
 * service only passes it on: the authority checks the credential itself.
 *
 * @module
 */

import type {
  CheckedToken,
  Credential,
  IssuedToken,
  Latch,
  Scope,
} from "../contract/credentials.ts";
import type { ApprovalView, Capability } from "../contract/actions.ts";
import type { ChannelAnswer, ChannelRequest } from "./channels/channel_request.ts";
import type { Begun, Granted } from "../approvals/commission/commissions.ts";
import type { CommissionOutcome, Finding } from "../contract/finding.ts";
import type { UpkeepAnswer, UpkeepRequest } from "./upkeep_request.ts";

/** What may be asked. */
export type OperatorRequest =
  | ChannelRequest
  | UpkeepRequest
  | { op: "approvals.list" }
  | { op: "approvals.get"; id: string }
  /** `digest`: all 64 digits, or the first 8 from a chat. */
  | { op: "approvals.approve"; id: string; digest: string }
  | { op: "approvals.deny"; id: string; reason: string }
  | { op: "latches.list" }
  | { op: "latches.clear"; sessionKey: string; capability: Capability }
  /** A token for REST routes, for the credential `issue_secret`; it holds for `tokenTtlS`. */
  | { op: "tokens.issue_api"; scopes: readonly Scope[] }
  /** Whose the token is that is shown. */
  | { op: "tokens.check" }
  /** Begins a rehearsal of the automation of that digest. */
  | { op: "automations.commission.begin"; automationId: string; digest: string }
  /**
   * Ends a rehearsal: how its turn ended. Done for whoever knows its id: the token that began it may have
   * expired meanwhile.
   */
  | { op: "automations.commission.finish"; id: string; outcome: CommissionOutcome }
  /** The newest finding of an automation. */
  | { op: "automations.finding"; automationId: string }
  /**
   * Grants what the newest finding names. `digest`: the finding's; `automationDigest`: of the automation
   * as it is now.
   */
  | { op: "automations.grant"; automationId: string; digest: string; automationDigest: string }
  /**
   * The automation is gone: takes back what stands for it. It only ever takes away, so it is done for any
   * credential, by the service's word.
   */
  | { op: "automations.revoke"; automationId: string };

/** What is answered. */
export type OperatorAnswer =
  | UpkeepAnswer
  | ChannelAnswer
  | { approvals: ApprovalView[] }
  | { approval: ApprovalView }
  | { latches: Latch[] }
  | { issued: IssuedToken }
  | { token: CheckedToken }
  | { commission: Begun }
  /** Absent for a rehearsal that was cancelled. */
  | { finding?: Finding }
  | { granted: Granted }
  | { removed: number }
  | { done: true };

/** Asks the authority; rejects with its ServiceError. */
export type Operate = (
  request: OperatorRequest,
  credential: Credential,
) => Promise<OperatorAnswer>;
