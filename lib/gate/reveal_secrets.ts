/**
 * Values of secrets, at the moment at which an allowed call is given them.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import { fillSecrets, secretsNamedIn } from "../policy/secret_references.ts";
import type { UrlTarget } from "../contract/actions.ts";
import type { AllowedCall } from "./judge_call.ts";
import type { SecretStore } from "../state/secret_store.ts";

/** Values by name. Throws `not_found` for one that is gone, `refused` where none can be read. */
export function revealSecrets(
  { secrets }: AllowedCall,
  store: Pick<SecretStore, "reveal"> | undefined,
): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const { action: { target } } of secrets) {
    if (target.kind !== "secret") continue;
    const secret = store?.reveal(target.name);
    if (secret === undefined) {
      throw new ServiceError("not_found", `There is no secret ${target.name} any more`);
    }
    values.set(target.name, secret.value);
  }
  return values;
}

/** An environment that holds them, by name. Throws `invalid_request` for one that none can hold. */
export function secretEnv(values: ReadonlyMap<string, string>): Record<string, string> {
  for (const [name, value] of values) {
    if (value.includes("\0") || !value.isWellFormed()) {
      throw new ServiceError(
        "invalid_request",
        `The secret ${name} holds a NUL or half of a character, which no environment can`,
      );
    }
  }
  return Object.fromEntries(values);
}

/** The target with values in its headers. Throws `invalid_request` for one that no header can hold. */
export function withSecretHeaders(
  target: UrlTarget,
  values: ReadonlyMap<string, string>,
): UrlTarget {
  if (target.headers === undefined) return target;
  const headers = Object.entries(target.headers).map(([name, text]): [string, string] => {
    const missing = secretsNamedIn(text).find((secret) => !values.has(secret));
    if (missing !== undefined) {
      throw new ServiceError(
        "refused",
        `headers.${name}: ${missing} was not allowed for this host`,
      );
    }
    const value = fillSecrets(text, values);
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw new ServiceError(
        "invalid_request",
        `headers.${name}: with its secrets filled in it holds what no header can, such as the end of ` +
          "a line",
      );
    }
    return [name, value];
  });
  return { ...target, headers: Object.fromEntries(headers) };
}
