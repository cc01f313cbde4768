/**
 * What a command prints of a configuration in force, without the secrets of the home that it may hold: a
 * token can be part of an address, too.
 *
 * @module
 */

import { readSecrets } from "../../lib/state/operator_state.ts";
import { SECRETS_KEY_VARIABLE } from "../../lib/state/secret_key.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import type { Env } from "../../lib/config/references.ts";
import { fingerprintsOf, newSalt } from "../../lib/secrets/fingerprints_of.ts";
import { createScrubber } from "../../lib/secrets/scrubber.ts";

/** The same plain data with `[secret NAME]` in the place of values. */
export function withoutSecrets<T>(
  value: T,
  { paths, env }: { paths: Pick<HomePaths, "operatorDir" | "keysDir">; env: Env },
): T {
  const secretsKey = env(SECRETS_KEY_VARIABLE);
  const secrets = readSecrets({ dir: paths.operatorDir, keysDir: paths.keysDir, secretsKey });
  const salt = newSalt();
  const fingerprints = secrets.revealAll().flatMap((secret) => fingerprintsOf(secret, salt));
  return createScrubber(fingerprints).value(value);
}
