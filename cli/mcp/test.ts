/**
 * `service mcp test NAME`: connects to one MCP server anew, and says how that went.
 *
 * @module
 */

import type { McpServerStatus } from "../../lib/mcp_servers/mcp_servers.ts";
import { EXIT, type ExitCode, type Invocation } from "../command.ts";
import { type McpDeps, printOffers } from "./list.ts";

/** Runs it. Exits with 1 when the server is not connected then. */
export async function testServer(
  { args, globals, out }: Invocation,
  deps: McpDeps,
): Promise<ExitCode> {
  const startedAt = deps.elapsed();
  const [status] = await deps.withService(
    globals,
    (client) => Array.fromAsync(client.stream("mcp", { op: "test", server: args[0]! })),
  );
  const ms = Math.round(deps.elapsed() - startedAt);
  const { server, state, transport, detail, tools, resources, prompts } = status!;
  const isConnected = state === "connected";
  const advice = isConnected ? undefined : adviceFor(status!);
  if (globals.json) out.json({ ...status, ms, ...advice === undefined ? {} : { advice } });
  else if (isConnected) {
    out.line(`${server} is connected over ${transport} after ${ms} ms: ${detail}`);
    out.line(
      `Tools: ${tools.length}, resources: ${resources.length}, prompts: ${prompts.length}`,
    );
    printOffers(status!, out, true);
  } else {
    out.note(`${server} is not connected (${state}) after ${ms} ms: ${detail}`);
    out.note(advice!);
  }
  return isConnected ? EXIT.done : EXIT.failed;
}

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
  return `It sees the workspace, the system's programs, and what ${key}.read, .write, .env and ` +
    ".hosts give it, and nothing else; see what it lacks of that";
}
