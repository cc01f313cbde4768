/**
 * The agent as a client of POST /mcp may use it: what the local socket offers, by whoever has the API's
 * key, in the API's own conversations.
 *
 * @module
 */

import type { Config } from "../config/schema.ts";
import type { Operation, Operations } from "../local/protocol.ts";
import type { AgentAccess } from "../mcp/serve/agent_access.ts";
import { createOperations, type OperationDeps } from "./operations.ts";

/** Makes it. `api` is read for every turn. */
export function apiAgent(
  deps: Omit<OperationDeps, "requester">,
  api: Pick<Config["api"], "attended" | "timeoutS">,
): AgentAccess {
  const operations = createOperations({
    ...deps,
    requester: () => ({
      actor: "api:key",
      attended: api.attended,
      timeoutMs: api.timeoutS * 1000,
    }),
  });
  return {
    request<Op extends Operation>(op: Op, params: Operations[Op]["params"], signal: AbortSignal) {
      const run = operations[op] as (
        params: Operations[Op]["params"],
        signal: AbortSignal,
      ) => AsyncIterable<Operations[Op]["data"]>;
      return run(params, signal);
    },
    channel: "api",
    readsAll: false,
  };
}
