/**
 * Whether what the authority remembers for operators can be trusted.
 *
 * @module
 */

import { findStateDamage, MENDS_ITSELF } from "../../lib/state/operator_state.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import type { Finding } from "./check.ts";

/** Reads tokens, grants, denials and what waits, which secrets are not part of; changes nothing. */
export function checkOperators(
  { operatorDir: dir, keysDir }: Pick<HomePaths, "operatorDir" | "keysDir">,
): Finding[] {
  const damage = findStateDamage({ dir, keysDir }).filter(({ name }) => name !== "secrets");
  if (damage.length === 0) {
    return [{ status: "ok", detail: "tokens, grants and blocks are intact" }];
  }
  // A damaged key is told once, and not for each file that it seals.
  return [...Map.groupBy(damage, ({ damaged }) => damaged)].map(([detail, all]): Finding => {
    const repairs = all.filter(({ name }) => !MENDS_ITSELF.has(name)).map(({ repair }) => repair);
    return repairs.length === 0
      ? {
        status: "warn",
        detail,
        fix: "Start the service: an empty one takes its place with its next change",
      }
      : {
        status: "fail",
        detail,
        fix: `Find out who changed it, then: ${repairs.join(" && ")}`,
      };
  });
}
