/**
 * Does for operators what only the authority may: secrets, the audit, permissions, the configuration.
 * Whoever asks has been found to hold the scope for it.
 *
 * @module
 */

import type { Permission } from "../base/permission.ts";
import { type AuditUpkeepDeps, createAuditUpkeep } from "./audit_upkeep.ts";
import { listSecrets, removeSecret, type SecretUpkeepDeps, setSecret } from "./secret_upkeep.ts";
import { createSettingsUpkeep, type SettingsUpkeepDeps } from "./settings_upkeep.ts";
import type { UpkeepAnswer, UpkeepRequest } from "./upkeep_request.ts";
import { checkUpkeepRequest } from "./upkeep_schema.ts";

export interface Upkeep {
  /** `by` stands in the record of a change. Rejects with a ServiceError that repeats no secret. */
  answer(request: UpkeepRequest, by: string): Promise<UpkeepAnswer>;
}

/** What it works on. */
export type UpkeepDeps =
  & SettingsUpkeepDeps
  & Pick<SecretUpkeepDeps, "secrets">
  & Pick<AuditUpkeepDeps, "mirror">;

/** Makes it for the home that this process owns. */
export function createUpkeep(deps: UpkeepDeps): Upkeep {
  const { auditDir, keysDir } = deps.paths;
  const permissions: Permission[] = [...deps.permissions];
  const audit = createAuditUpkeep({ auditDir, keysDir, mirror: deps.mirror });
  const settings = createSettingsUpkeep(deps);
  return {
    async answer(asked, by) {
      const request = checkUpkeepRequest(asked);
      switch (request.op) {
        case "secrets.list":
          return listSecrets(deps);
        case "secrets.set":
          return await setSecret(request, by, deps);
        case "secrets.remove":
          return await removeSecret(request.name, by, deps);
        case "audit.list":
          return await audit.list(request);
        case "audit.verify":
          return await audit.verify();
        case "permissions.list":
          return { permissions };
        case "settings.get":
          return { settings: await settings.get() };
        case "settings.change":
          return { changed: await settings.change(request.changes, by) };
      }
    },
  };
}
