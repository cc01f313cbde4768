/**
 * `service mcp list`: how the MCP servers of the configuration are, and what they offer.
 *
 * @module
 */

import type { LocalClient } from "../../lib/local/client.ts";
import type { OperationResult } from "../../lib/operations/operations.ts";
import { EXIT, type ExitCode, type Globals, type Invocation } from "../command.ts";
import { operateWith } from "../operator/operate_with.ts";
import type { Output } from "../output.ts";
import { printList } from "../print_list.ts";
import { printParagraph } from "../print_paragraph.ts";
import { printTable } from "../table.ts";

/** What the command reaches outside of itself. */
export interface McpDeps {
  withService<T>(globals: Globals, use: (client: LocalClient) => Promise<T>): Promise<T>;
  /** Milliseconds since some moment. */
  elapsed(): number;
}

/** How a server is. */
export type McpServer = OperationResult<"mcp.list">["servers"][number];

/** Runs it. */
export async function listServers(invocation: Invocation, deps: McpDeps): Promise<ExitCode> {
  const { globals, out } = invocation;
  const { servers } = await deps.withService(
    globals,
    (client) => operateWith(client)({ op: "mcp.list" }),
  );
  await printList(invocation, servers, {
    columns: ["SERVER", "TRANSPORT", "STATE", "TOOLS", "RESOURCES", "PROMPTS", "RESTARTS"],
    cells: (server) => [
      server.server,
      server.transport,
      server.state,
      String(server.tools.length),
      String(server.resources.length),
      String(server.prompts.length),
      String(server.restarts),
    ],
    none: "No MCP servers in mcp.servers. Add one with: service mcp add NAME -- COMMAND",
  });
  if (globals.json) return EXIT.done;
  printDetails(servers, out);
  for (const server of servers) printOffers(server, out, globals.verbose);
  const isUnknown = servers.some(({ state, tools }) => state === "idle" && tools.length === 0);
  if (isUnknown) out.note("Connect an unused server with: service mcp test NAME");
  return EXIT.done;
}

/** What each is, or why it failed: too long for a column, and what is looked for when one fails. */
function printDetails(servers: readonly McpServer[], out: Output): void {
  const told = servers.filter(({ detail }) => detail !== "");
  if (told.length > 0) out.line("");
  for (const { server, detail } of told) {
    printParagraph(out, { text: `${server}: ` }, detail);
  }
}

/** What one server offers; with `verbose` resources and prompts too. */
export function printOffers(
  { server, tools, resources, prompts }: McpServer,
  out: Output,
  verbose: boolean,
): void {
  if (tools.length > 0) {
    out.line("");
    printTable(
      out,
      ["TOOL", "UNASKED", "DESCRIPTION"],
      tools.map(({ name, description, allowed }) => [
        `${server}/${name}`,
        allowed ? "yes" : "no",
        description,
      ]),
    );
  }
  if (!verbose) return;
  if (resources.length > 0) {
    out.line("");
    printTable(out, ["RESOURCE", "NAME"], resources.map(({ uri, name }) => [uri, name]));
  }
  if (prompts.length > 0) {
    out.line("");
    printTable(
      out,
      ["PROMPT", "DESCRIPTION"],
      prompts.map(({ name, description }) => [`${server}/${name}`, description]),
    );
  }
}
