/**
 * How the MCP server of our own reaches the agent: by the operations of the local protocol, so that a
 * command and the HTTP port offer the same.
 *
 * @module
 */

import type { Item, Params } from "../../local/protocol.ts";

/** Operations that the server needs. */
type Needed = "turn" | "sessions" | "session";

/** The agent, as a client over MCP may use it. */
export interface AgentAccess {
  /** Runs an operation; aborting the signal stops it, and its end is still told. */
  request<Op extends Needed>(
    op: Op,
    params: Params<Op>,
    signal: AbortSignal,
  ): AsyncIterable<Item<Op>>;
  /** Its sessions are `<channel>:<id>`. */
  channel: string;
  /** Whether it may read the sessions of other channels too. */
  readsAll: boolean;
}
