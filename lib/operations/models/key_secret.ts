/**
 * The key of a provider as a secret of the home: its name, and whom it is for.
 *
 * @module
 */

import { joinHostPort } from "../../base/host_pattern.ts";
import type { Secret } from "../../contract/secrets.ts";
import { readProvider } from "../../model/provider_spec.ts";
import { sectionOf, type SetUp } from "../../model/try_offer.ts";
import { isSecretName } from "../../secrets/secret_name.ts";
import type { SecretStore } from "../../state/secret_store.ts";

/**
 * The secret that would hold the key. A name that holds another value is left alone, unless it is the
 * `current` one of this provider.
 */
export function keySecret(
  { offer, key }: Pick<SetUp, "offer" | "key">,
  current: string | undefined,
  { secrets, now }: { secrets: Pick<SecretStore, "list" | "reveal">; now: number },
): Secret {
  const host = hostOf(readProvider(offer.provider, sectionOf(offer, key)).baseUrl);
  const usual = `${offer.provider.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_API_KEY`;
  const wanted = [offer.keyVariable, usual].find((name) => name && isSecretName(name)) ?? "API_KEY";
  for (let number = 1;; number++) {
    const name = number === 1 ? wanted : `${wanted}_${number}`;
    const old = storedSecret(name, secrets);
    if (old !== undefined && old.value !== key && name !== current) continue;
    return {
      name,
      value: key,
      hosts: [...new Set([...old?.hosts ?? [], host])],
      commands: old?.commands ?? [],
      createdAt: old?.createdAt ?? now,
      updatedAt: now,
    };
  }
}

/** The secret of that name, which needs no key while there is none. */
export function storedSecret(
  name: string,
  secrets: Pick<SecretStore, "list" | "reveal">,
): Secret | undefined {
  return secrets.list().some((each) => each.name === name) ? secrets.reveal(name) : undefined;
}

/** The name of the secret that a value of the configuration stands for. */
export function secretNamed(value: unknown): string | undefined {
  return /^\$\{secret:(\w+)\}$/.exec(String(value))?.[1];
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
