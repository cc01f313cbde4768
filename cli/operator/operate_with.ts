/**
 * Operations over the local socket.
 *
 * @module
 */

import type { LocalClient } from "../../lib/local/client.ts";
import type {
  GatewayOperationName,
  OperationName,
  OperationRequest,
  OperationResult,
} from "../../lib/operations/operations.ts";

/** Asks the running service; rejects with its ServiceError. */
export type Ask = <Name extends OperationName | GatewayOperationName>(
  request: OperationRequest<Name>,
) => Promise<OperationResult<Name>>;

/** What asks, with a token where the operation takes one. */
export function operateWith(client: Pick<LocalClient, "call">, token?: string): Ask {
  return ((request: OperationRequest) => client.call("operate", { token, request })) as Ask;
}
