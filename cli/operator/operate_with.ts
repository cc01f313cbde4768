/**
 * Operations over the local socket.
 *
 * @module
 */

import type { LocalClient } from "../../lib/local/client.ts";
import type {
  GatewayOperationName,
  HomeOperationName,
  OperationName,
  OperationRequest,
  OperationResult,
  StreamName,
} from "../../lib/operations/operations.ts";

/** The name of an operation that a command asks for. */
export type AskedName =
  | OperationName
  | Exclude<GatewayOperationName, StreamName>
  | HomeOperationName;

/** Asks for an operation; rejects with its ServiceError. */
export type Ask = <Name extends AskedName>(
  request: OperationRequest<Name>,
) => Promise<OperationResult<Name>>;

/** What asks the service, with a token where the operation takes one. */
export function operateWith(client: Pick<LocalClient, "call">, token?: string): Ask {
  return ((request: OperationRequest) => client.call("operate", { token, request })) as Ask;
}

/** The items of an operation that streams; what it throws is the service's ServiceError. */
export function streamWith<Name extends StreamName>(
  client: Pick<LocalClient, "stream">,
  request: OperationRequest<Name>,
): AsyncIterable<OperationResult<Name>> {
  return client.stream("operate", { request }) as AsyncIterable<OperationResult<Name>>;
}
