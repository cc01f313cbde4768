/**
 * Asks the service for something that has exactly one answer.
 *
 * @module
 */

import { ServiceError } from "../lib/base/errors.ts";
import type { LocalClient } from "../lib/local/client.ts";
import type { Operation, Operations } from "../lib/local/protocol.ts";

/** The one answer of an operation. Throws what the service throws, and `internal` when it says nothing. */
export async function oneAnswer<Op extends Operation>(
  client: LocalClient,
  op: Op,
  params: Operations[Op]["params"],
): Promise<Operations[Op]["data"]> {
  for await (const data of client.request(op, params)) return data;
  throw new ServiceError("internal", `The service answered ${op} with nothing`);
}
