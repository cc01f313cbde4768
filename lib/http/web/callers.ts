/**
 * Who a request is from, or why it goes no further: 401, and 429 for addresses that guess.
 *
 * @module
 */

import { ServiceError } from "../../base/errors.ts";
import type { AuthFailures } from "../auth_failures.ts";
import type { Arrival, Caller } from "./web_route.ts";

/** What finding out needs. */
export interface CallersDeps {
  /**
   * Whom the token of the header Authorization, or a trusted proxy, says it is; undefined for nobody.
   * May reject with a ServiceError; `invalid_token` counts as nobody.
   */
  callerOf: (request: Request, arrival: Arrival) => Promise<Caller | undefined>;
  /** Shared with the handshakes of the port: a guess is a guess. */
  failures: AuthFailures;
}

export class Callers {
  readonly #deps: CallersDeps;

  constructor(deps: CallersDeps) {
    this.#deps = deps;
  }

  /**
   * Throws `invalid_token`, or `too_many_auth_failures` when the address failed too often before. A
   * right token passes whatever the address did.
   */
  async require(request: Request, arrival: Arrival): Promise<Caller> {
    const caller = await this.#find(request, arrival);
    if (caller !== undefined) return caller;
    const retryAfterS = this.#deps.failures.record(arrival.peerAddress ?? "unknown");
    if (retryAfterS > 0) {
      throw new ServiceError(
        "too_many_auth_failures",
        `Too many requests without the right token; try again in ${retryAfterS} s`,
        { retryAfterS },
      );
    }
    throw new ServiceError(
      "invalid_token",
      request.headers.has("authorization")
        ? "The token is none of this port, was revoked, or has expired"
        : "A token is needed: send the header Authorization: Bearer <token>",
    );
  }

  async #find(request: Request, arrival: Arrival): Promise<Caller | undefined> {
    try {
      return await this.#deps.callerOf(request, arrival);
    } catch (error) {
      if (error instanceof ServiceError && error.code === "invalid_token") return undefined;
      throw error;
    }
  }
}
