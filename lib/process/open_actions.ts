/**
 * What actions run with: the gate, the children that it starts, tool servers and readers of documents.
 *
 * @module
 */

import type { GatewayPorts } from "../authority/gateway_ports.ts";
import { scrubbedApprovals } from "../authority/scrubbed_ports.ts";
import type { Config } from "../config/schema.ts";
import { createDocumentReader } from "../documents/documents.ts";
import { createExecutor } from "../executor/executor.ts";
import {
  type NetworkDeps,
  openNetwork,
  removeLeftNetworks,
} from "../executor/network/open_network.ts";
import type { TriedSandboxes } from "../executor/tried_sandboxes.ts";
import type { Actions } from "../gate/gate.ts";
import { ProjectActions } from "../gate/project_actions.ts";
import { openMcpServers } from "../mcp_servers/open_mcp_servers.ts";
import { lockedPackages } from "../packages/locked_packages.ts";
import { createPackageFetcher } from "../packages/package_fetcher.ts";
import { ownListeners } from "../policy/resolve/own_listeners.ts";
import type { HomeLog } from "./open_log.ts";
import type { OpenedOperator } from "./open_operator.ts";
import type { Records } from "./open_records.ts";
import type { HomeOptions } from "./own_home.ts";

/** What {@linkcode openActions} takes. */
export interface OpenActionsDeps
  extends
    Pick<Records, "audit" | "state">,
    Pick<HomeLog, "log" | "known">,
    Pick<OpenedOperator, "approvals" | "operator" | "commissions"> {
  config: Config;
  /** Real path. */
  workspace: string;
  denoDir: string | undefined;
  sandboxes: TriedSandboxes;
  ports: GatewayPorts;
  /** Where the service is reached, once it is. */
  served: { apiUrl?: string; wsUrl?: string };
}

/** Opens them; nothing is started yet. */
export async function openActions({ paths, env, version }: HomeOptions, deps: OpenActionsDeps) {
  const { config, workspace, denoDir, sandboxes, audit, state, ports, served, log } = deps;
  // Loaded with the first project: most starts work in the workspace.
  const checkFolder = async (folder: string) => {
    const { Projects } = await import("../authority/projects.ts");
    await new Projects(paths).check(folder, workspace);
  };
  const { scrubber } = deps.known;
  const cacheDir = `${paths.runDir}/child-cache`;
  const executor = createExecutor({ cacheDir, workspace, sandboxes, log });
  await removeLeftNetworks(paths.socketDir);
  const { websocket } = config.channels;
  const network: NetworkDeps = {
    executor,
    audit,
    privateHosts: config.gates.privateHosts,
    // A configured port of 0 is another one once it is served.
    listeners: () =>
      ownListeners([config.api.port, websocket.port, ...portsOf(served.apiUrl, served.wsUrl)]),
    socketDir: paths.socketDir,
    log,
  };
  const shared = {
    config,
    paths,
    workspace,
    denoDir,
    sandboxes,
    openNetwork: (asked: Parameters<typeof openNetwork>[1]) => openNetwork(network, asked),
    audit,
    log,
  };
  const fetcher = createPackageFetcher({ packages: lockedPackages(denoDir), env, log });
  const mcp = openMcpServers({
    ...shared,
    fetcher,
    executor,
    // The gate has the sandbox, and calls these servers.
    openSandboxed: (...started) => actions.openSandboxed(...started),
    version,
    scrub: (text) => scrubber.text(text),
  });
  const actions: Actions = new ProjectActions({
    ...shared,
    state,
    approvals: scrubbedApprovals(deps.approvals, scrubber),
    canAsk: deps.operator.canAsk,
    outbox: ports.outbox,
    automations: ports.automations,
    secretStore: state.secrets,
    commissions: deps.commissions,
    mcp,
    listeners: network.listeners,
    scrubber,
  }, checkFolder);
  const documents = createDocumentReader({ cacheDir, workspace, denoDir, sandboxes, log });
  return { executor, fetcher, mcp, actions, documents, checkFolder };
}

/** Ports of those addresses that are served. */
function portsOf(...urls: (string | undefined)[]): number[] {
  return urls.flatMap((url) => {
    const port = url === undefined ? "" : new URL(url).port;
    return port === "" ? [] : [Number(port)];
  });
}
