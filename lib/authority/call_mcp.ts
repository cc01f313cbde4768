/**
 * Runs an allowed call of a tool of an MCP server and tells the turn how it went.
 *
 * @module
 */

import type { ActionResult, McpTarget } from "./actions.ts";
import { cutOutput } from "./executor/cut_output.ts";
import type { McpServers } from "./mcp/mcp_servers.ts";
import { failed } from "./results.ts";

/** Calls it. Rejects only with the signal's reason, after the call was cancelled with the server. */
export async function callMcp(
  { args, target, mcp, maxOutputBytes, signal, onProgress }: {
    args: unknown;
    target: McpTarget;
    mcp: Pick<McpServers, "call">;
    maxOutputBytes: number;
    signal: AbortSignal;
    onProgress: (text: string) => void;
  },
): Promise<ActionResult> {
  const outcome = await mcp.call(target, args as Record<string, unknown>, { signal, onProgress });
  switch (outcome.type) {
    case "ok":
      return { status: "ok", output: cutOutput(outcome.output, maxOutputBytes) };
    case "failed":
      return failed("tool_failed", cutOutput(outcome.output, maxOutputBytes));
    case "fault": {
      const message = cutOutput(outcome.message, maxOutputBytes);
      return failed("executor_fault", `${target.server}/${target.tool} did not finish: ${message}`);
    }
  }
}
