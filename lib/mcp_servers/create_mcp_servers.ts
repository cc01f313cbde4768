/**
 * The MCP servers of a service, made from the configuration. Nothing is started before it is needed.
 *
 * @module
 */

import { type Clock, systemClock } from "../base/clock.ts";
import type { Config, McpServerConfig } from "../config/schema.ts";
import { ServiceError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { AuditLog } from "../audit/log.ts";
import { canonicalJson } from "../base/canonical_json.ts";
import { sha256Hex } from "../base/sha256.ts";
import type { Catalog } from "./catalog.ts";
import { type ConnectDeps, connectServer } from "./connect_server.ts";
import type { McpConnection, McpConnectionEvents } from "./mcp_connection.ts";
import { McpServer } from "./mcp_server.ts";
import type { McpServers, OfferedTool } from "./mcp_servers.ts";
import { MCP_PREFIX } from "./tool_names.ts";

/** What they are made of. */
export interface McpServersOptions extends Omit<ConnectDeps, "audit" | "log" | "signal"> {
  servers: Config["mcp"]["servers"];
  maxOutputBytes: number;
  catalog: Catalog;
  /** Takes values of secrets out of a text. */
  scrub(text: string): string;
  audit: AuditLog;
  log: Log;
  clock?: Clock;
  /** How long servers never seen before, all together, hold up the first turn. Default 5,000. */
  firstWaitMs?: number;
  /** Instead of real children; for tests. */
  connect?: (
    name: string,
    events: McpConnectionEvents,
    signal: AbortSignal,
  ) => Promise<McpConnection>;
}

/** Tools of all servers together. */
const MAX_TOOLS = 512;

/** Makes them. */
export function createMcpServers(options: McpServersOptions): McpServers {
  const { audit, catalog, log, scrub, clock = systemClock, firstWaitMs = 5_000 } = options;
  const servers = new Map<string, McpServer>();
  for (const [name, config] of Object.entries(options.servers)) {
    const digest = audit.digest(canonicalJson(configFacts(config)));
    const connect = options.connect ??
      ((name, events, signal) => connectServer(name, config, events, { ...options, signal }));
    servers.set(
      name,
      new McpServer({
        name,
        config,
        identity: sha256Hex(canonicalJson(identityFacts(config))),
        maxOutputBytes: options.maxOutputBytes,
        connect: (events, signal) => connect(name, events, signal),
        known: catalog.read(name, digest),
        keep: async (entry) => {
          // What holds a secret is not for a file.
          const text = JSON.stringify(entry);
          if (scrub(text) === text) await catalog.write(name, digest, entry);
        },
        onToolsChanged: (change) => audit.append("mcp.tools_changed", { server: name, ...change }),
        scrub,
        clock,
        log,
      }),
    );
  }
  let firstWait: Promise<void> | undefined;
  /** Tools that were too many when that was last said: no turn changes it. */
  let warnedOf = 0;

  /** Once in the life of the service; whoever comes meanwhile waits no longer than the first. */
  function waitOnce(): Promise<void> {
    return firstWait ??= new Promise((resolve) => {
      const unknown = [...servers.values()].filter((server) => server.isWanted);
      if (unknown.length === 0) return resolve();
      const cancel = clock.after(firstWaitMs, resolve);
      void Promise.all(unknown.map((server) => server.tryConnect())).then(() => {
        cancel();
        resolve();
      });
    });
  }

  function find(name: string): OfferedTool | undefined {
    if (!name.startsWith(MCP_PREFIX)) return undefined;
    const end = name.indexOf("__", MCP_PREFIX.length);
    const server = servers.get(name.slice(MCP_PREFIX.length, end));
    return server?.tools.find((tool) => tool.name === name);
  }

  return {
    async tools() {
      const isFirst = firstWait === undefined;
      await waitOnce();
      if (!isFirst) {
        // Nobody waits for these; the next turn has what comes of it.
        for (const server of servers.values()) if (server.isWanted) void server.tryConnect();
      }
      const all = [...servers.values()].flatMap(({ tools }) => tools);
      if (all.length > MAX_TOOLS && all.length !== warnedOf) {
        warnedOf = all.length;
        log.warning("MCP servers offer more tools than a model is told of", {
          offered: all.length,
          told: MAX_TOOLS,
        });
      }
      return all.slice(0, MAX_TOOLS);
    },
    find,
    isAllowed: (server, tool) => servers.get(server)?.isAllowed(tool) ?? false,
    async call({ server, tool, definition }, args, callOptions) {
      const found = servers.get(server);
      if (found === undefined) {
        return { type: "fault", message: `there is no server "${server}" in mcp.servers` };
      }
      return await found.call({ tool, definition }, args, callOptions);
    },
    status: () => [...servers.values()].map((server) => server.status()),
    async test(name) {
      const server = servers.get(name);
      if (server === undefined) {
        const known = [...servers.keys()].join(", ") || "none";
        throw new ServiceError(
          "not_found",
          `No MCP server named "${name}"; mcp.servers has: ${known}`,
          { param: "name" },
        );
      }
      return await server.test();
    },
    async shutdown() {
      await Promise.all([...servers.values()].map((server) => server.close()));
    },
  };
}

/** Everything on which what a server offers may depend. */
function configFacts(
  { command, cwd, env, read, write, hosts, url, headers }: McpServerConfig,
): Record<string, unknown> {
  return { command, cwd, env, read, write, hosts, url, headers };
}

/** What the server is: the program or the address, without its keys. */
function identityFacts({ command, cwd, url }: McpServerConfig): Record<string, unknown> {
  return url === undefined ? { command, cwd } : { url };
}
