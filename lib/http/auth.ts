/**
 * Checks a bearer secret in constant time.
 *
 * @module
 */

import { createHash, timingSafeEqual } from "node:crypto";
import { ServiceError } from "../base/errors.ts";
import type { AuthFailures } from "./auth_failures.ts";

/** What a check needs. */
export interface BearerAuthOptions {
  /** The secret; printable ASCII without spaces. */
  key: string;
  /** Name of the setting that holds it, for errors, such as `api.apiKey`. */
  setting: string;
  failures: AuthFailures;
}

/** One bearer secret. */
export class BearerAuth {
  readonly #digest: Uint8Array;
  readonly #failures: AuthFailures;

  /** Throws `config_invalid` for a key that no client could send. */
  constructor({ key, setting, failures }: BearerAuthOptions) {
    if (!/^[\x21-\x7e]+$/.test(key)) {
      throw new ServiceError(
        "config_invalid",
        `${setting} must be printable ASCII without spaces: no client could send another key`,
        { param: setting },
      );
    }
    this.#digest = digest(key);
    this.#failures = failures;
  }

  /**
   * Throws `invalid_api_key`, or `too_many_auth_failures` when the address failed too often before.
   * A right key passes whatever the address did.
   */
  check(authorization: string | null, peerAddress: string): void {
    const key = bearer(authorization);
    if (key !== undefined && timingSafeEqual(digest(key), this.#digest)) return;
    const retryAfterS = this.#failures.record(peerAddress);
    if (retryAfterS > 0) {
      throw new ServiceError(
        "too_many_auth_failures",
        `Too many requests without the right API key; try again in ${retryAfterS} s`,
        { retryAfterS },
      );
    }
    throw new ServiceError(
      "invalid_api_key",
      authorization === null
        ? "An API key is needed: send the header Authorization: Bearer <key>"
        : "The API key is wrong: the header must be Authorization: Bearer <key>",
    );
  }
}

/** The secret of a header Authorization, if it holds one. */
export function bearer(authorization: string | null): string | undefined {
  if (authorization === null) return undefined;
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1];
}

function digest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
