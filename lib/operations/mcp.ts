/**
 * The MCP servers of the configuration, as they are now.
 *
 * @module
 */

import { z } from "zod";
import type { McpServerStatus } from "../mcp_servers/mcp_servers.ts";
import { gatewayOperation } from "./operation.ts";

/** What may be asked of MCP servers; `test` connects to one anew. */
export type McpRequest = { op: "list" } | { op: "test"; server: string };

/** What these work on. */
export interface McpParts {
  /** Rejects with `not_found` for a server that isn't configured. */
  mcp(request: McpRequest): Promise<McpServerStatus[]>;
}

const PATH = "/api/webui/mcp/servers";

const server = z.object({
  server: z.string(),
  transport: z.enum(["stdio", "http"]),
  state: z.enum(["idle", "connecting", "connected", "failed", "disabled"])
    .describe("idle: not needed yet; failed: waits before the next try."),
  detail: z.string().describe("Why it failed, or what it says it is."),
  tools: z.array(z.object({ name: z.string(), description: z.string(), allowed: z.boolean() })),
  resources: z.array(z.object({ uri: z.string(), name: z.string() })),
  prompts: z.array(z.object({ name: z.string(), description: z.string() })),
  restarts: z.int(),
}).describe("An MCP server.");

/** Operations on MCP servers. */
export const MCP = {
  "mcp.list": gatewayOperation({
    summary: "List MCP servers, their state and what they offer",
    scope: "read",
    command: "mcp list",
    input: z.object({}),
    output: z.object({ servers: z.array(server) }),
    route: { method: "GET", path: PATH, errors: ["overloaded"] },
    run: async (_, { mcp }) => ({ servers: await mcp({ op: "list" }) }),
  }),
  "mcp.test": gatewayOperation({
    summary: "Connect to an MCP server and report errors",
    scope: "operate",
    command: "mcp test",
    input: z.object({ name: z.string("a name").max(64, "at most 64 characters") }),
    output: server.extend({
      advice: z.string().optional().describe("What to do; absent when it is connected."),
    }),
    route: { method: "POST", path: `${PATH}/:name/test`, errors: ["not_found", "overloaded"] },
    async run({ name }, { mcp }) {
      const [status] = await mcp({ op: "test", server: name });
      return { ...status!, ...status!.state !== "connected" && { advice: adviceFor(status!) } };
    },
  }),
};

/** What whoever runs the service can do about it. */
export function adviceFor(
  { server, state, transport, detail }: Pick<
    McpServerStatus,
    "server" | "state" | "transport" | "detail"
  >,
): string {
  const key = `mcp.servers.${server}`;
  if (state === "disabled") return `Switch it on with: service config set ${key}.enabled true`;
  const named = /^(command|cwd|url|hosts):/.exec(detail)?.[1];
  if (/gates\.privateHosts/.test(detail)) {
    return `Correct ${key}.url, or list its host in gates.privateHosts if it is yours`;
  }
  if (named !== undefined) return `Correct ${key}.${named}`;
  if (/answers HTTP 40[13]/.test(detail)) {
    return `Put its key into ${key}.headers, best as \${secret:NAME}`;
  }
  if (/redirect/.test(detail)) return `Put the address that it redirects to into ${key}.url`;
  if (transport === "http") return `See whether it runs, and whether ${key}.url is right`;
  return `It can use only the workspace, the system's programs, and what ${key}.read, .write, ` +
    ".env and .hosts allow. Allow what it is missing there";
}
