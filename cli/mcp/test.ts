/**
 * `service mcp test NAME`: connects to one MCP server anew, and says how that went.
 *
 * @module
 */

import { MCP } from "../../lib/operations/mcp.ts";
import { EXIT, type ExitCode, type Invocation } from "../command.ts";
import { operateWith } from "../operator/operate_with.ts";
import { typedInput } from "../operator/operation_subcommand.ts";
import { type McpDeps, printOffers } from "./list.ts";

/** Runs it. Exits with 1 when the server is not connected then. */
export async function testServer(invocation: Invocation, deps: McpDeps): Promise<ExitCode> {
  const { globals, out } = invocation;
  const typed = typedInput(MCP["mcp.test"], invocation);
  const startedAt = deps.elapsed();
  const answer = await deps.withService(
    globals,
    (client) => operateWith(client)({ op: "mcp.test", ...typed }),
  );
  const ms = Math.round(deps.elapsed() - startedAt);
  const { server, state, transport, detail, tools, resources, prompts, advice } = answer;
  if (globals.json) out.json(answer);
  else if (advice === undefined) {
    out.line(`${server} is connected over ${transport} after ${ms} ms: ${detail}`);
    out.line(
      `Tools: ${tools.length}, resources: ${resources.length}, prompts: ${prompts.length}`,
    );
    printOffers(answer, out, true);
  } else {
    out.note(`${server} is not connected (${state}) after ${ms} ms: ${detail}`);
    out.note(advice);
  }
  return advice === undefined ? EXIT.done : EXIT.failed;
}
