/**
 * The MCP servers of a service: connected when they are first needed, each in a child of its own,
 * started anew with back-off when it dies.
 *
 * @module
 */

import type { DescribedTool } from "../tools/mod.ts";

/** A tool of a server, as a model is told of it. */
export interface OfferedTool extends DescribedTool {
  /** `mcp__<server>__<tool>`, at most 64 of A-Z, a-z, 0-9, _ and -. */
  name: string;
  server: string;
  /** The server's own name of it. */
  tool: string;
  /** The server says that it changes nothing. */
  readOnly: boolean;
  /** See `McpTarget.definition`. */
  definition: string;
}

/** How a server is. */
export interface McpServerStatus {
  server: string;
  transport: "stdio" | "http";
  /** `idle`: not needed yet; `failed`: waits before the next try. */
  state: "idle" | "connecting" | "connected" | "failed" | "disabled";
  /** For people: why it failed, or what it says it is. */
  detail: string;
  tools: { name: string; description: string; allowed: boolean }[];
  resources: { uri: string; name: string }[];
  prompts: { name: string; description: string }[];
  /** Times that it was started anew. */
  restarts: number;
}

/** How a call came out. `output` is for the model, bounded, and not scrubbed yet. */
export type McpCallOutcome =
  | { type: "ok"; output: string }
  /** The server says that the tool failed. */
  | { type: "failed"; output: string }
  /** The server died, hung, flooded, or cannot be reached. */
  | { type: "fault"; message: string };

/** What the gate and the service need of them. */
export interface McpServers {
  /** What they offer; waits a bounded time for those that were never connected, and for nobody twice. */
  tools(): Promise<readonly OfferedTool[]>;
  /** A tool by the name that a model uses; without waiting. */
  find(name: string): OfferedTool | undefined;
  /** Whether the configuration lists the tool under `allow`. */
  isAllowed(server: string, tool: string): boolean;
  /**
   * Runs a tool that was allowed, if it still has that definition. Rejects only with the signal's
   * reason, after the call was cancelled with the server.
   */
  call(
    target: { server: string; tool: string; definition: string },
    args: Readonly<Record<string, unknown>>,
    options: { signal: AbortSignal; onProgress: (text: string) => void },
  ): Promise<McpCallOutcome>;
  status(): McpServerStatus[];
  /** Connects anew, whatever the back-off says, and lists everything. Throws `not_found`. */
  test(server: string): Promise<McpServerStatus>;
  /** Ends every server with its tree. */
  shutdown(): Promise<void>;
}
