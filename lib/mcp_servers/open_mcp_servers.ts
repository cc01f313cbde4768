/**
 * The MCP servers of a home: made from its configuration, over its folders.
 *
 * @module
 */

import type { HomePaths } from "../config/paths.ts";
import type { Config } from "../config/schema.ts";
import { openCatalog } from "./catalog.ts";
import { createMcpServers, type McpServersOptions } from "./create_mcp_servers.ts";
import type { McpServers } from "./mcp_servers.ts";
import { lockedPackages } from "../packages/locked_packages.ts";
import type { PackageFetcher } from "../packages/package_fetcher.ts";
import { MCP } from "../packages/wanted_packages.ts";

/** What a home has for them. */
export interface OpenMcpServersOptions extends
  Pick<
    McpServersOptions,
    | "executor"
    | "openSandboxed"
    | "openNetwork"
    | "version"
    | "scrub"
    | "audit"
    | "clock"
    | "firstWaitMs"
    | "log"
  > {
  config: Pick<Config, "agent" | "executor" | "gates" | "mcp">;
  paths: Pick<HomePaths, "mcpDir">;
  /** Real path of `agent.workspace`. */
  workspace: string;
  /** Deno's folder of packages (`findDenoDir`); the binary needs none. */
  denoDir: string | undefined;
  fetcher: Pick<PackageFetcher, "ensure">;
}

/** Makes them; nothing is started. */
export function openMcpServers(options: OpenMcpServersOptions): McpServers {
  const { config, paths, workspace, denoDir, fetcher, log } = options;
  return createMcpServers({
    ...options,
    servers: config.mcp.servers,
    maxOutputBytes: config.executor.maxOutputBytes,
    privateHosts: config.gates.privateHosts,
    workspace: { path: config.agent.workspace, real: workspace },
    catalog: openCatalog({ dir: paths.mcpDir, log }),
    packages: lockedPackages(denoDir),
    ensurePackages: () =>
      fetcher.ensure({ user: "tool servers", param: "mcp.servers", dependencies: MCP }),
  });
}
