/**
 * How the MCP server of our own reaches the agent: by calls of the local protocol, so that a command and
 * the HTTP port offer the same.
 *
 * @module
 */

import type { Item, Params } from "../../local/protocol.ts";

/** The agent, as a client over MCP may use it. */
export interface AgentAccess {
  /** One turn; aborting the signal stops it, and its end is still told. */
  turn(params: Params<"turn">, signal: AbortSignal): AsyncIterable<Item<"turn">>;
  /** An operation of the table, for which there are the sessions that the client may see alone. */
  operate(request: Params<"operate">["request"], signal: AbortSignal): Promise<unknown>;
  /** Its sessions are `<channel>:<id>`. */
  channel: string;
  /** Whether it may read the sessions of other channels too. */
  readsAll: boolean;
}
