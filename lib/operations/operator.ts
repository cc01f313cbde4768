/**
 * What approvers and operators may ask of the authority, as plain data, and by what they are known
 * (decisions E4, E5). The service only passes it on: the authority checks the credential itself.
 *
 * @module
 */

import type { ApprovalView, Capability } from "../contract/actions.ts";
import type { ChannelAnswer, ChannelRequest } from "./channels/channel_request.ts";
import type { Begun, Granted } from "../approvals/commission/commissions.ts";
import type { CommissionOutcome, Finding } from "../contract/finding.ts";
import type { UpkeepAnswer, UpkeepRequest } from "./upkeep_request.ts";

/** What a token may be used for (document 2 part 5). `operate` includes all others. */
export const SCOPES = ["operate", "read", "chat", "approve", "secrets"] as const;

/** One of {@linkcode SCOPES}. */
export type Scope = typeof SCOPES[number];

/** Whether scopes allow what needs `scope`: `operate` includes `approve`. */
export function includesScope(scopes: readonly Scope[], scope: Scope): boolean {
  return scopes.includes(scope) || scopes.includes("operate");
}

/** Who asks. */
export type Credential =
  /** A token as `service tokens issue` gave it; over HTTP and the local socket alike. */
  | { kind: "token"; token: string }
  /** Somebody on a channel whose descriptor says that it verifies senders, such as `telegram:12345`. */
  | { kind: "sender"; sender: string }
  /**
   * Somebody whom the trusted proxy in front vouches for; `webui:<claim value>`. Only while
   * `channels.websocket.trustedProxyAuth` is set. Unscoped, but who answers approvals stands in
   * `gates.approvers` all the same.
   */
  | { kind: "identity"; actor: string }
  /** What was shown for a token to be issued; absent: nothing was. */
  | { kind: "issue_secret"; secret?: string }
  /** The terminal of this very process, which opened the turn. Never crosses from the service. */
  | { kind: "terminal"; turnId: string };

/** A capability that a person has denied in a session (decisions E5). */
export interface Latch {
  sessionKey: string;
  capability: Capability;
  /** Milliseconds since 1970. */
  since: number;
  /** The denial's words. */
  reason: string;
}

/** A token that was just made; it can be read this once. */
export interface IssuedToken {
  token: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** A token in force, without being it. */
export interface CheckedToken {
  /** `tok_` and 16 letters and digits. */
  id: string;
  scopes: readonly Scope[];
  /** Milliseconds since 1970; absent: until it is revoked. */
  expiresAt?: number;
}

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
