/**
 * Secrets for operators: the same store, rules and audit records as `service secrets`.
 *
 * @module
 */

import type { SecretInfo } from "../contract/secrets.ts";
import { type ConfiguredUses, configuredUses } from "../settings/configured_uses.ts";
import type { HomePaths } from "../config/paths.ts";
import type { Env } from "../config/references.ts";
import { ServiceError } from "../base/errors.ts";
import { isSecretName, SECRET_NAME_FORM } from "../secrets/secret_name.ts";
import type { SecretChange, SecretStore } from "../state/secret_store.ts";

/** What it works on. */
export interface SecretKeeperDeps {
  secrets: Pick<SecretStore, "list" | "set" | "remove" | "damaged">;
  paths: HomePaths;
  env: Env;
}

/** Sets and removes secrets, and says which keys of the configuration they are for. */
export class SecretKeeper {
  readonly #deps: SecretKeeperDeps;

  constructor(deps: SecretKeeperDeps) {
    this.#deps = deps;
  }

  /** `damaged`: why no value can be read. */
  list(): { secrets: SecretInfo[]; damaged?: string } {
    const { secrets } = this.#deps;
    return { secrets: secrets.list(), damaged: secrets.damaged() };
  }

  async set(
    secret: SecretChange,
    by: string,
  ): Promise<{ secret: SecretInfo; uses: ConfiguredUses }> {
    const info = await this.#deps.secrets.set(secret, by);
    return { secret: info, uses: await configuredUses(secret.name, this.#deps) };
  }

  /** Rejects with `not_found`. */
  async remove(name: string, by: string): Promise<ConfiguredUses> {
    // What was sent may be the value itself, so it isn't repeated.
    if (!isSecretName(name)) {
      throw new ServiceError("invalid_request", `Invalid name: expected ${SECRET_NAME_FORM}`, {
        param: "name",
      });
    }
    if (!await this.#deps.secrets.remove(name, by)) {
      throw new ServiceError("not_found", `No secret named ${name}`, { param: "name" });
    }
    return await configuredUses(name, this.#deps);
  }
}
