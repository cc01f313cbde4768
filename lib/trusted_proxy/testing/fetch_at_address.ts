/**
 * A GET to judged addresses over sockets of this process, for `JwksNetwork.fetchAt` of tests: the service
 * itself may connect nowhere for that, and has the authority fetch keys.
 *
 * @module
 */

import { createAddressFetch } from "../../mcp/address_fetch.ts";
import { type AddressRequest, JWKS_TIMEOUT_MS } from "../fetch_jwks.ts";

/** Asks one of the addresses. Rejects with an Error in words for people, for a redirect too. */
export async function fetchAtAddress(
  { url, addresses, headers, signal }: AddressRequest,
): Promise<Response> {
  const fetchOnce = createAddressFetch({ url, addresses, maxAnswerMs: JWKS_TIMEOUT_MS });
  return await fetchOnce(url, { headers, signal });
}
