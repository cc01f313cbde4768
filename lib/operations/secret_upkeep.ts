/**
 * Secrets for operators who are not at the command line: the same store, rules and records as
 * `service secrets`. Values go in and never out.
 *
 * @module
 */

import { configuredUses } from "../settings/configured_uses.ts";
import type { HomePaths } from "../config/paths.ts";
import type { Env } from "../config/references.ts";
import { ServiceError } from "../base/errors.ts";
import { isSecretName, SECRET_NAME_FORM } from "../secrets/secret_name.ts";
import type { SecretStore } from "../state/secret_store.ts";
import type { UpkeepAnswer, UpkeepRequest } from "./upkeep_request.ts";

/** What it works on. */
export interface SecretUpkeepDeps {
  secrets: Pick<SecretStore, "list" | "set" | "remove" | "damaged">;
  paths: HomePaths;
  env: Env;
}

/** Names and scopes, and why values cannot be read, if so. */
export function listSecrets({ secrets }: Pick<SecretUpkeepDeps, "secrets">): UpkeepAnswer {
  const damaged = secrets.damaged();
  return { secrets: secrets.list(), ...damaged === undefined ? {} : { damaged } };
}

/** Sets a secret, and says which keys of the configuration it is for. */
export async function setSecret(
  { name, value, hosts, commands }: Extract<UpkeepRequest, { op: "secrets.set" }>,
  by: string,
  deps: SecretUpkeepDeps,
): Promise<UpkeepAnswer> {
  const secret = await deps.secrets.set({ name, value, hosts, commands }, by);
  return { secret, uses: await configuredUses(name, deps) };
}

/** Removes a secret. Rejects with `not_found`. */
export async function removeSecret(
  name: string,
  by: string,
  deps: SecretUpkeepDeps,
): Promise<UpkeepAnswer> {
  // What was sent may be the value itself, so it is not repeated.
  if (!isSecretName(name)) {
    throw new ServiceError("invalid_request", `name is not one: expected ${SECRET_NAME_FORM}`, {
      param: "name",
    });
  }
  if (!await deps.secrets.remove(name, by)) {
    throw new ServiceError("not_found", `There is no secret ${name}`, { param: "name" });
  }
  return { removedSecret: name, uses: await configuredUses(name, deps) };
}
