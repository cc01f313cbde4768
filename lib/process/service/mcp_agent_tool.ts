/**
 * A tool of an MCP server, as the agent knows it.
 *
 * @module
 */

import type { AgentTool } from "../../agent/toolbox.ts";
import type { OfferedTool } from "../../mcp_servers/mcp_servers.ts";

/** What a server says of its tool counts for nothing but whether calls may run beside each other. */
export function mcpAgentTool(offered: OfferedTool): AgentTool {
  const { name, description, parameters, server, tool, readOnly } = offered;
  return {
    name,
    description,
    parameters,
    readOnly: false,
    parallel: readOnly,
    capability: "mcp.call",
    hint: () => `${server}: ${tool}`,
  };
}
