/**
 * What `service policy` works on.
 *
 * @module
 */

import type { SecretScope } from "../../lib/policy/secret_scope.ts";
import { examine } from "../../lib/settings/examine.ts";
import { readConfig } from "../../lib/settings/load.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import { configError } from "../../lib/config/problem.ts";
import type { Env } from "../../lib/config/references.ts";
import type { Config } from "../../lib/config/schema.ts";

/** Handed in, so that tests need no process. */
export interface PolicyDeps {
  paths: HomePaths;
  lastGood: boolean;
  env: Env;
  /** Whether programs for a sandbox are here, without starting them. */
  findSandbox: () => Promise<{ confined: boolean; reason: string }>;
  /** Names and scopes of secrets; throws when they cannot be read. Nothing is decrypted. */
  secrets: () => readonly SecretScope[];
  /** Looks up a host's addresses in a child; only for --resolve. */
  lookUp: (host: string, config: Config) => Promise<readonly string[] | { reason: string }>;
}

/**
 * The configuration, without regard to the cases that pin it: whoever asks about its policy may be about
 * to mend that. Throws `config_invalid`.
 */
export async function readPolicyConfig(deps: PolicyDeps): Promise<Config> {
  const { file, text } = await readConfig(deps);
  const { config, problems } = examine({ ...deps, text });
  if (config === undefined || problems.length > 0) {
    throw configError(`Cannot load ${file}`, problems);
  }
  return config;
}
