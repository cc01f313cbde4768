/**
 * `service mcp`: tool servers over the Model Context Protocol.
 *
 * @module
 */

import { type Command, type ExitCode, type Invocation } from "../command.ts";
import { listServers, type McpDeps } from "../mcp/list.ts";
import { testServer } from "../mcp/test.ts";
import { withService } from "../open_service.ts";

/** Runs the command. */
export async function runMcp(invocation: Invocation, deps: McpDeps): Promise<ExitCode> {
  switch (invocation.subcommand) {
    case "test":
      return await testServer(invocation, deps);
    default:
      return await listServers(invocation, deps);
  }
}

const mcp: Command = {
  description:
    "MCP servers give the agent tools of others. They are named in mcp.servers of the configuration " +
    "and connected when they are first needed; their tools are called mcp__<server>__<tool>.",
  examples: [
    "service mcp list",
    "service mcp list --json",
    "service mcp test files",
  ],
  subcommands: [
    { name: "list", summary: "Show how they are and what they offer (also without a subcommand)" },
    { name: "test", args: "NAME", summary: "Connect to one anew, and say what went wrong" },
  ],
  options: [],
  run: (invocation) => runMcp(invocation, { withService, elapsed: () => performance.now() }),
};

export default mcp;
