/**
 * `service mcp`: tool servers over the Model Context Protocol.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { MCP } from "../../lib/operations/mcp.ts";
import { MCP as PACKAGES } from "../../lib/packages/wanted_packages.ts";
import { type Command, type ExitCode, type Invocation } from "../command.ts";
import { processSignals } from "../agent/interrupts.ts";
import { ensurePackages } from "../ensure_packages.ts";
import { listServers, type McpDeps } from "../mcp/list.ts";
import { serveAgent } from "../mcp/serve.ts";
import { testServer } from "../mcp/test.ts";
import { withService } from "../open_service.ts";
import { operationSubcommand } from "../operator/operation_subcommand.ts";

/** Runs the command. */
export async function runMcp(invocation: Invocation, deps: McpDeps): Promise<ExitCode> {
  if (invocation.options["all-sessions"] !== undefined) {
    throw new ServiceError("usage", "Only service mcp serve takes --all-sessions", {
      param: "all-sessions",
    });
  }
  switch (invocation.subcommand) {
    case "add":
    case "remove": {
      const [{ addServer, removeServer }, { configDeps }] = await Promise.all([
        import("../mcp/change.ts"),
        import("../config/deps.ts"),
      ]);
      const change = invocation.subcommand === "add" ? addServer : removeServer;
      return await change(invocation, await configDeps(invocation.globals));
    }
    case "test":
      return await testServer(invocation, deps);
    default:
      return await listServers(invocation, deps);
  }
}

const mcp: Command = {
  description:
    "MCP servers give the agent tools. They are configured in mcp.servers, which add and remove " +
    "change, and connected on first use; their tools are named mcp__<server>__<tool>. A command runs " +
    "in the sandbox of commands. With serve, this agent becomes an MCP server for others.",
  examples: [
    "service mcp list",
    "service mcp add memory -- /usr/local/bin/mcp-server-memory",
    "service mcp add docs --url https://mcp.example.com --header 'Authorization: ${secret:DOCS}'",
    "service mcp remove memory",
    "service mcp test memory",
    "service mcp serve",
  ],
  options: [],
  defaultSubcommand: "list",
  subcommands: [
    operationSubcommand(MCP["mcp.list"]),
    {
      name: "add",
      args: "NAME [COMMAND...]",
      summary: "Add a server: its command after --, or --url",
      options: [
        { name: "url", value: "URL", summary: "Address of a server over HTTP" },
        {
          name: "header",
          value: "HEADER",
          repeatable: true,
          summary: "Request header for --url, as 'Name: value'",
        },
        {
          name: "env",
          value: "VARIABLE",
          repeatable: true,
          summary: "Variable for the command, as NAME=value",
        },
        { name: "cwd", value: "FOLDER", summary: "Folder of the command, in the workspace" },
      ],
    },
    { name: "remove", args: "NAME", summary: "Remove a server" },
    operationSubcommand(MCP["mcp.test"]),
    {
      name: "serve",
      summary: "Serve this agent over standard input and output",
      options: [{
        name: "all-sessions",
        summary: "Let the client read the conversations of every channel",
      }],
    },
  ],
  async run(invocation) {
    if (invocation.subcommand !== "serve") {
      return await runMcp(invocation, { withService, elapsed: () => performance.now() });
    }
    await ensurePackages({ user: "service mcp serve", param: "mcp", dependencies: PACKAGES });
    return await serveAgent(invocation, {
      withService,
      signals: processSignals,
      streams: { readable: Deno.stdin.readable, writable: Deno.stdout.writable },
    });
  },
};

export default mcp;
