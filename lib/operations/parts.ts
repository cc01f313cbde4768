/**
 * What operations work on, in the process that owns the home.
 *
 * @module
 */

import type { Approvals } from "../approvals/approvals.ts";
import type { Commissions } from "../approvals/commission/commissions.ts";
import type { Permission } from "../base/permission.ts";
import { ServiceError } from "../base/errors.ts";
import type { RecentLines } from "../base/recent_lines.ts";
import type { Pairing, PairingStore } from "../state/pairing_store.ts";
import type { GrantStore } from "../state/grant_store.ts";
import type { LatchStore } from "../state/latch_store.ts";
import type { TokenStore } from "../state/token_store.ts";
import type { AuditPages } from "./audit_pages.ts";
import type { ChannelOperator } from "./channels/operate_channels.ts";
import type { ModelSetup } from "./models/model_setup.ts";
import type { SecretKeeper } from "./secret_keeper.ts";
import type { SettingsKeeper } from "./settings_keeper.ts";

/** What is absent isn't enabled here. */
export interface Parts {
  approvals?: Approvals;
  latches?: Pick<LatchStore, "list" | "clear">;
  secrets?: SecretKeeper;
  audit?: AuditPages;
  /** Of the running gateway. */
  permissions?: readonly Permission[];
  settings?: SettingsKeeper;
  channels?: Pick<ChannelOperator, "list" | "validate" | "set" | "switchTo" | "connect">;
  commissions?: Commissions;
  pairings?: Pick<PairingStore, "list" | "find" | "remove" | "dismiss">;
  /** Puts a sender into `allowFrom`; `by` is for the audit log. */
  allowSender?: (who: Pairing, by: string) => Promise<unknown>;
  /** Of the service's log. */
  recentLines?: Pick<RecentLines, "read">;
  models?: Pick<ModelSetup, "find" | "list" | "connect">;
  /** Has the service start again; rejects with why it would not. `by` stands in the record. */
  restart?(by: string): Promise<void>;
}

/** What operations of the home's owner work on. */
export interface HomeParts {
  tokens: Pick<TokenStore, "issue" | "list" | "revoke">;
  grants: Pick<GrantStore, "add" | "list" | "remove">;
}

/** The part. Throws `not_enabled` where it is absent. */
export function enabled<T>(part: T | undefined): T {
  if (part !== undefined) return part;
  throw new ServiceError("not_enabled", "This isn't enabled here");
}
