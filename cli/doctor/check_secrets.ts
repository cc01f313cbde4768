/**
 * Whether the secrets can be read with the key that this process has.
 *
 * @module
 */

import { findStateDamage, readSecrets } from "../../lib/state/operator_state.ts";
import { SECRETS_KEY_VARIABLE } from "../../lib/state/secret_key.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import type { Env } from "../../lib/config/references.ts";
import type { Finding } from "./check.ts";

/** Reads every secret; changes nothing, and shows none. */
export function checkSecrets(
  { paths, env }: { paths: Pick<HomePaths, "operatorDir" | "keysDir">; env: Env },
): Finding {
  const place = {
    dir: paths.operatorDir,
    keysDir: paths.keysDir,
    secretsKey: env(SECRETS_KEY_VARIABLE),
  };
  const damage = findStateDamage(place).find(({ name }) => name === "secrets");
  if (damage !== undefined) {
    const { damaged, repair } = damage;
    return {
      status: "fail",
      detail: damaged,
      fix: `Restore what is missing. If it is lost, start without any secrets: ${repair}`,
    };
  }
  const { length } = readSecrets(place).list();
  if (length === 0) return { status: "ok", detail: "no secrets" };
  return {
    status: "ok",
    detail: `${length} ${length === 1 ? "secret" : "secrets"}, readable with the key`,
  };
}
