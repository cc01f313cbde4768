/**
 * Runs an allowed call of a tool of an MCP server and tells the turn how it went.
 *
 * @module
 */

import type { ActionResult, McpTarget } from "../contract/actions.ts";
import { cutOutput } from "../rpc/cut_output.ts";
import type { Scrubber } from "../secrets/scrubber.ts";
import type { McpServers } from "../mcp_servers/mcp_servers.ts";
import { failed } from "./results.ts";

/** Calls it. Rejects only with the signal's reason, after the call was cancelled with the server. */
export async function callMcp(
  { args, target, mcp, maxOutputBytes, scrubber, signal, onProgress }: {
    args: unknown;
    target: McpTarget;
    mcp: Pick<McpServers, "call">;
    maxOutputBytes: number;
    /** Takes secrets out before anything is cut, since half of one is known by nobody. */
    scrubber?: Pick<Scrubber, "text">;
    signal: AbortSignal;
    onProgress: (text: string) => void;
  },
): Promise<ActionResult> {
  const outcome = await mcp.call(target, args as Record<string, unknown>, { signal, onProgress });
  const cut = (text: string) => cutOutput(scrubber?.text(text) ?? text, maxOutputBytes);
  switch (outcome.type) {
    case "ok":
      return { status: "ok", output: cut(outcome.output) };
    case "failed":
      return failed("tool_failed", cut(outcome.output));
    case "fault": {
      const message = cut(outcome.message);
      return failed("executor_fault", `${target.server}/${target.tool} did not finish: ${message}`);
    }
  }
}
