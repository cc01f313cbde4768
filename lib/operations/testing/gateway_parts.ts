/**
 * Operations of the gateway over a few of its parts, for tests.
 *
 * @module
 */

import type { SessionFilter } from "../../contract/journal.ts";
import type { GatewayParts } from "../operation.ts";
import {
  type GatewayOperationName,
  type OperationRequest,
  type OperationResult,
  runGatewayOperation,
} from "../operations.ts";

/** Of parts that an operation needs, none may be missing. */
export function someParts(parts: Partial<GatewayParts>): GatewayParts {
  return parts as GatewayParts;
}

/** Runs one as whoever opens the local socket. */
export async function runOperation<Name extends GatewayOperationName>(
  request: OperationRequest<Name>,
  parts: Partial<GatewayParts>,
  signal: AbortSignal = new AbortController().signal,
  sees: SessionFilter = {},
): Promise<OperationResult<Name>> {
  const asking = { credential: { kind: "token", token: "" } as const, sees, signal };
  return await runGatewayOperation(request, someParts(parts), asking) as never;
}
