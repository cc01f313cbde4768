/**
 * What a tool of our own MCP server is.
 *
 * @module
 */

import type { CallToolResult, ToolAnnotations } from "@modelcontextprotocol/sdk/types.js";
import type { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import type { AgentAccess } from "./agent_access.ts";

/** What one call works with. */
export interface ToolCallContext {
  access: AgentAccess;
  /** Aborts when the client cancels the call or has gone. */
  signal: AbortSignal;
  /** Tells the client how it goes; absent when it did not ask for that. */
  progress?: (progress: { progress: number; message: string }) => Promise<void>;
  clock: Clock;
}

/** A tool. `run` throws a ServiceError whose message is for the client. */
export interface AgentTool<Args = unknown> {
  name: string;
  title: string;
  description: string;
  args: z.ZodType<Args>;
  result: z.ZodType;
  annotations: ToolAnnotations;
  run(args: Args, context: ToolCallContext): Promise<CallToolResult>;
}

/** A tool with its type of arguments forgotten: `args` has checked them before `run` has them. */
export function agentTool<Args>(tool: AgentTool<Args>): AgentTool {
  return tool as unknown as AgentTool;
}
