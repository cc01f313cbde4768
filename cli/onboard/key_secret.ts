/**
 * The key of a provider as a secret of the home: its name, whom it is for, and how it is kept.
 *
 * @module
 */

import { joinHostPort } from "../../lib/base/host_pattern.ts";
import type { Secret } from "../../lib/contract/secrets.ts";
import { readProvider } from "../../lib/model/provider_spec.ts";
import { isSecretName } from "../../lib/secrets/secret_name.ts";
import type { Output } from "../output.ts";
import { changeState, type OperatorDeps, readState } from "../operator/with_state.ts";
import { sectionOf, type SetUp } from "./set_up_model.ts";

/**
 * The secret that would hold the key. A name that holds another value is left alone, unless it is the
 * `current` one of this provider.
 */
export async function keySecret(
  { offer, key }: Pick<SetUp, "offer" | "key">,
  current: string | undefined,
  deps: OperatorDeps,
): Promise<Secret> {
  const host = hostOf(readProvider(offer.provider, sectionOf(offer, key)).baseUrl);
  const usual = `${offer.provider.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_API_KEY`;
  const wanted = [offer.keyVariable, usual].find((name) => name && isSecretName(name)) ?? "API_KEY";
  return await readState(deps, ({ secrets }) => {
    for (let number = 1;; number++) {
      const name = number === 1 ? wanted : `${wanted}_${number}`;
      const old = secrets.list().some((each) => each.name === name)
        ? secrets.reveal(name)
        : undefined;
      if (old !== undefined && old.value !== key && name !== current) continue;
      const now = deps.now();
      return {
        name,
        value: key,
        hosts: [...new Set([...old?.hosts ?? [], host])],
        commands: old?.commands ?? [],
        createdAt: old?.createdAt ?? now,
        updatedAt: now,
      };
    }
  });
}

/** Keeps it as `service secrets set` does. Returns what puts back how it was. */
export async function keepSecret(
  { name, value, hosts, commands }: Secret,
  deps: OperatorDeps,
  out: Output,
): Promise<() => Promise<void>> {
  const change = (use: Parameters<typeof changeState<void>>[2]) => changeState(deps, out, use);
  let old: Secret | undefined;
  await change(async ({ secrets }) => {
    old = secrets.list().some((each) => each.name === name) ? secrets.reveal(name) : undefined;
    await secrets.set({ name, value, hosts, commands });
  });
  return () =>
    change(async ({ secrets }) => {
      if (old === undefined) await secrets.remove(name);
      else await secrets.set(old);
    });
}

/** Over http a scope has to name the port. */
function hostOf(baseUrl: string): string {
  const { protocol, hostname, port } = new URL(baseUrl);
  const host = hostname.replace(/^\[|\]$/g, "");
  const usual = protocol === "https:" ? 443 : 80;
  return protocol === "https:" && port === ""
    ? joinHostPort(host, usual).replace(/:443$/, "")
    : joinHostPort(host, Number(port) || usual);
}
