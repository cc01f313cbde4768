/**
 * How the MCP server of our own reaches the agent: by the operations of the local protocol, so that a
 * command and the HTTP port offer the same.
 *
 * @module
 */

import type { Operations } from "../../local/protocol.ts";

/** Operations that the server needs. */
type Needed = "turn" | "sessions" | "session";

/** The agent, as a client over MCP may use it. */
export interface AgentAccess {
  /** Runs an operation; aborting the signal cancels it. `LocalClient.request` is one. */
  request<Op extends Needed>(
    op: Op,
    params: Operations[Op]["params"],
    signal: AbortSignal,
  ): AsyncIterable<Operations[Op]["data"]>;
  /** Its sessions are `<channel>:<id>`. */
  channel: string;
  /** Whether it may read the sessions of other channels too. */
  readsAll: boolean;
}
