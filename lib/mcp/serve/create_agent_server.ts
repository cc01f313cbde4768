/**
 * Our own MCP server: offers the agent to other agents, whatever the transport.
 *
 * @module
 */

import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  type CallToolRequest,
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type ServerNotification,
  type ServerRequest,
  type Tool,
} from "@modelcontextprotocol/sdk/types.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import { z } from "zod";
import { type Clock, systemClock } from "../../base/clock.ts";
import { ServiceError } from "../../base/errors.ts";
import type { AgentAccess } from "./agent_access.ts";
import type { AgentTool } from "./agent_tool.ts";
import { askTool } from "./ask_tool.ts";
import { OPERATION_TOOLS } from "./operation_tools.ts";

/** What the server is made of. */
export interface AgentServerOptions {
  access: AgentAccess;
  version: string;
  /** Takes what a client must not see; it is told of an internal error. */
  onInternal(error: unknown): void;
  clock?: Clock;
}

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** The tools, in the order in which clients are told of them. */
export const TOOLS: readonly AgentTool[] = [askTool, ...OPERATION_TOOLS];

const INSTRUCTIONS =
  "An agent with tools and a memory of its conversations. `ask` it; go on with the session_id that it " +
  "answers.";

/** Makes the server; connect it to one client. */
export function createAgentServer(options: AgentServerOptions): Server {
  const { access, version, onInternal, clock = systemClock } = options;
  const server = new Server({ name: "service", title: "service", version }, {
    capabilities: { tools: {} },
    instructions: INSTRUCTIONS,
  });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS.map(describe) }));
  server.setRequestHandler(
    CallToolRequestSchema,
    async ({ params }: CallToolRequest, extra: Extra) => {
      const tool = TOOLS.find(({ name }) => name === params.name);
      if (tool === undefined) {
        const known = TOOLS.map(({ name }) => name).join(", ");
        throw new McpError(
          ErrorCode.InvalidParams,
          `Unknown tool ${JSON.stringify(params.name.slice(0, 100))}; there are: ${known}`,
        );
      }
      const args = tool.args.safeParse(params.arguments ?? {});
      if (!args.success) return failed(describeIssue(args.error));
      const token = params._meta?.progressToken;
      const { signal } = extra;
      try {
        return await tool.run(args.data, {
          access,
          signal,
          clock,
          progress: token === undefined ? undefined : (progress) =>
            extra.sendNotification({
              method: "notifications/progress",
              params: { progressToken: token, ...progress },
            }),
        });
      } catch (error) {
        if (signal.aborted) return failed("The call was cancelled");
        if (error instanceof ServiceError && error.code !== "internal") {
          return failed(
            error.message,
          );
        }
        onInternal(error);
        return failed("The agent failed in a way that it did not expect; its log says more");
      }
    },
  );
  return server;
}

function describe({ name, title, description, args, result, annotations }: AgentTool): Tool {
  const schema = (type: z.ZodType, io: "input" | "output") =>
    z.toJSONSchema(type, { io, target: "draft-7" }) as Tool["inputSchema"];
  return {
    name,
    title,
    description,
    inputSchema: schema(args, "input"),
    outputSchema: schema(result, "output"),
    annotations: { title, ...annotations },
  };
}

function failed(text: string): CallToolResult {
  return { isError: true, content: [{ type: "text", text }] };
}

function describeIssue({ issues }: z.ZodError): string {
  const issue = issues[0]!;
  if (issue.code === "unrecognized_keys") {
    return `Unknown argument ${JSON.stringify(String(issue.keys[0]).slice(0, 100))}`;
  }
  const path = issue.path.join(".");
  return `${path === "" ? "The arguments" : path} must be ${issue.message}`;
}
