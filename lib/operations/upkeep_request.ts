/**
 * What an operator may ask of the authority beside approvals: secrets, the audit, permissions and the
 * configuration. Plain data, as it crosses from the service.
 *
 * @module
 */

import type { SettingChange } from "../settings/setting_change.ts";
import type { Change } from "../settings/changes.ts";
import type { ConfiguredUses } from "../settings/configured_uses.ts";
import type { AuditRecord } from "../audit/record.ts";
import type { AuditFilter } from "../audit/record_filter.ts";
import type { Verdict } from "../audit/judge.ts";
import type { Permission } from "../base/permission.ts";
import type { SecretInfo } from "../contract/secrets.ts";

/** What may be asked. */
export type UpkeepRequest =
  | { op: "secrets.list" }
  /** Without hosts and commands, a secret that is there keeps its own. The value never comes back. */
  | { op: "secrets.set"; name: string; value: string; hosts?: string[]; commands?: string[] }
  | { op: "secrets.remove"; name: string }
  /** The newest `limit` records below the number `before`. */
  | { op: "audit.list"; filter: AuditFilter; limit: number; before?: number }
  | { op: "audit.verify" }
  | { op: "permissions.list" }
  | { op: "settings.get" }
  | { op: "settings.change"; changes: SettingChange[] };

/** What is answered. */
export type UpkeepAnswer =
  | { secrets: SecretInfo[]; damaged?: string }
  | { secret: SecretInfo; uses: ConfiguredUses }
  | { removedSecret: string; uses: ConfiguredUses }
  | { page: AuditPage }
  | { verdict: Verdict }
  | { permissions: Permission[] }
  | { settings: SettingsView }
  | { changed: SettingsChanged };

/** Records of the audit, oldest first. */
export interface AuditPage {
  records: AuditRecord[];
  /** Where earlier ones may be: the next page's `before`. Absent: there are none. */
  nextBefore?: number;
  /** Lines that cannot be read; `audit.verify` says what is wrong. */
  damages: number;
}

/** A key of the configuration, as it may be shown. */
export interface Setting {
  path: string;
  /** In force after the next start; a secret as `********`, a reference as it is written. */
  value?: unknown;
  default?: unknown;
  description?: string;
  takes: Change["takes"];
  secret: boolean;
  /** Whether it has a value; for a secret all that is said of it. */
  isSet: boolean;
  /** Where the value comes from. */
  source: "default" | "file" | "environment" | "secret";
  /** Whether `settings.change` takes it. */
  editable: boolean;
}

/** The configuration as it stands in the file. */
export interface SettingsView {
  file: string;
  settings: Setting[];
  /** Keys whose value in the file waits for a restart. */
  waiting: string[];
  /** Why the file would not load, a line each; the settings are then those that loaded last. */
  problems: string[];
}

/** Permissions that the service would have after a restart and has not now, and the reverse. */
export interface PermissionDifference {
  added: Permission[];
  removed: Permission[];
}

/** What became of a change. */
export interface SettingsChanged {
  /** False: the file held all of it already. */
  written: boolean;
  /** Keys that are in force. */
  live: string[];
  /** Keys that wait for a restart of the service, and what that would change. */
  restartRequired?: { keys: string[]; permissions: PermissionDifference };
}
