/**
 * How the key of a provider is kept as a secret of the home.
 *
 * @module
 */

import type { Secret } from "../../lib/contract/secrets.ts";
import { storedSecret } from "../../lib/operations/models/key_secret.ts";
import type { Output } from "../output.ts";
import { changeState, type OperatorDeps } from "../operator/with_state.ts";

/** Keeps it as `service secrets set` does. Returns what puts back how it was. */
export async function keepSecret(
  { name, value, hosts, commands }: Secret,
  deps: OperatorDeps,
  out: Output,
): Promise<() => Promise<void>> {
  const change = (use: Parameters<typeof changeState<void>>[2]) => changeState(deps, out, use);
  let old: Secret | undefined;
  await change(async ({ secrets }) => {
    old = storedSecret(name, secrets);
    await secrets.set({ name, value, hosts, commands });
  });
  return () =>
    change(async ({ secrets }) => {
      if (old === undefined) await secrets.remove(name);
      else await secrets.set(old);
    });
}
