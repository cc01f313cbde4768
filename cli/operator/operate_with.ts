/**
 * Operations over the local socket.
 *
 * @module
 */

import type { LocalClient } from "../../lib/local/client.ts";
import type {
  OperationName,
  OperationRequest,
  OperationResult,
} from "../../lib/operations/operations.ts";

/** Asks the running service with a token; rejects with its ServiceError. */
export type Ask = <Name extends OperationName>(
  request: OperationRequest<Name>,
) => Promise<OperationResult<Name>>;

/** What asks with that token. */
export function operateWith(client: Pick<LocalClient, "call">, token: string): Ask {
  return ((request: OperationRequest) => client.call("operate", { token, request })) as Ask;
}
