/**
 * A tool of an MCP server as the gate takes tools: its arguments any object, as the server checks them
 * itself, and its target the tool with the definition that it has at that moment.
 *
 * @module
 */

import { z } from "zod";
import type { Tool } from "../contract/tool.ts";
import type { McpTarget, UnresolvedTarget } from "../contract/actions.ts";
import type { OfferedTool } from "../mcp_servers/mcp_servers.ts";

/** Characters of arguments as JSON. */
const MAX_ARGS_CHARS = 1_000_000;
/** Most characters of a tool's own name. */
const MAX_TOOL_CHARS = 256;

const schema = z.record(z.string(), z.unknown()).refine(
  (args) => JSON.stringify(args).length <= MAX_ARGS_CHARS,
  `are longer than ${MAX_ARGS_CHARS} characters`,
);

/** What is known of a tool by its name. */
export type McpToolName = Pick<OfferedTool, "name" | "server" | "tool">;

/** Finds what is offered under a name at this moment. */
export type FindOffered = (name: string) =>
  | Pick<OfferedTool, keyof McpToolName | "definition">
  | undefined;

/** The tool of a server's tool. How long a call may take its server's configuration says. */
export function mcpTool({ name, server, tool }: McpToolName, readOnly = false): Tool {
  return {
    name,
    description: "",
    capability: "mcp.call",
    readOnly,
    schema,
    touches: () => ({ kind: "mcp", server, tool }),
    hint: () => name,
    timeoutMs: Number.MAX_SAFE_INTEGER,
  };
}

/**
 * Server and tool in a name `mcp__<server>__<tool>`, for when no server is asked; undefined for another
 * name. What a server calls its tool may differ in characters that such a name cannot hold.
 */
export function parseMcpToolName(name: string): McpToolName | undefined {
  const match = /^mcp__([a-z][a-z0-9-]{0,31})__([A-Za-z0-9_-]{1,64})$/.exec(name);
  return match === null ? undefined : { name, server: match[1]!, tool: match[2]! };
}

/** What a call is about. Without `find` no server is asked, and the definition is not known. */
export function resolveMcp(
  { server, tool }: { server: string; tool: string },
  name: string,
  find?: FindOffered,
): McpTarget | UnresolvedTarget {
  const unresolved = (reason: string): UnresolvedTarget => ({
    kind: "unresolved",
    what: `${server}/${tool}`.slice(0, 200),
    reason,
  });
  if (tool.length > MAX_TOOL_CHARS) {
    return unresolved(`the tool's name is longer than ${MAX_TOOL_CHARS} characters`);
  }
  if (find === undefined) return { kind: "mcp", server, tool, definition: "" };
  const offered = find(name);
  if (offered === undefined || offered.server !== server || offered.tool !== tool) {
    return unresolved("its server does not offer that tool now");
  }
  return { kind: "mcp", server, tool, definition: offered.definition };
}
