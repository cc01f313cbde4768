/**
 * How the child of an MCP server is started: for a server over stdio in the sandbox of commands, which
 * the server then shares; for one over HTTP with a way to the judged addresses alone.
 * On record before and after.
 *
 * @module
 */

import type { McpServerConfig } from "../config/schema.ts";
import type { Log } from "../base/log.ts";
import {
  type HttpStart,
  MCP_CHILD,
  type McpStart,
  type StdioStart,
} from "../contract/mcp_child.ts";
import { toErrorData } from "../base/errors.ts";
import type { UrlTarget } from "../contract/actions.ts";
import type { AuditLog } from "../audit/log.ts";
import { canonicalJson } from "../base/canonical_json.ts";
import { resolverJob } from "../executor/child_job.ts";
import { NO_PERMISSIONS } from "../executor/command.ts";
import { COMMAND_ENV } from "../executor/command_sandbox.ts";
import type { Commands } from "../executor/commands.ts";
import type { Executor } from "../executor/executor.ts";
import type { SandboxNetwork, SandboxNetworkOptions } from "../executor/network/open_network.ts";
import { proxyEnv } from "../executor/network/network_sandbox.ts";
import { isListed } from "../policy/conditions.ts";
import { addressPort, addressRange, closedRangesWithout } from "../base/addresses.ts";
import { findProgram } from "../policy/resolve/resolve_command.ts";
import { isInside } from "../base/inside.ts";
import { resolvePath, resolveUrl, type Workspace } from "../policy/resolve/resolve.ts";
import {
  type McpConnection,
  type McpConnectionEvents,
  openMcpConnection,
} from "./mcp_connection.ts";
import type { LockedPackages } from "../packages/locked_packages.ts";
import { sourcePaths } from "../base/layout.ts";

/** What connecting takes. */
export interface ConnectDeps {
  workspace: Workspace;
  executor: Pick<Executor, "open" | "run">;
  /** See `Commands.open`. */
  openSandboxed: Commands["open"];
  /** Opens the way of a server to its hosts; without it none has one. */
  openNetwork?: (options: SandboxNetworkOptions) => Promise<SandboxNetwork>;
  /** `gates.privateHosts`. */
  privateHosts: readonly string[];
  /** Has the packages of the child on this machine. Rejects in words for people. */
  ensurePackages: () => Promise<void>;
  /** Where a child finds the packages that it imports; the binary needs none. */
  packages?: LockedPackages;
  /** Of this program, for the server's greeting. */
  version: string;
  audit: Pick<AuditLog, "append" | "digest">;
  log: Pick<Log, "error">;
  /** Gives it up; nothing once it is connected. */
  signal: AbortSignal;
}

/** The part of a server's configuration that connecting goes by. */
export type ConnectConfig = Pick<
  McpServerConfig,
  "command" | "cwd" | "env" | "read" | "write" | "hosts" | "url" | "headers" | "timeoutS"
>;

/** A server has so long to start and to greet: interpreters are slow on a busy machine. */
const GREETING_TIMEOUT_MS = 20_000;
const START_TIMEOUT_MS = 30_000;
/** Sources of the child beside the executor's own. */
const SOURCES = ["lib/mcp", "lib/contract/mcp_child.ts"];
/** What the sandbox tells programs of its proxy by. */
const PROXY_ENV = Object.keys(proxyEnv());

/** Connects to a server. Rejects with an Error that says why not, in words for people. */
export async function connectServer(
  name: string,
  config: ConnectConfig,
  events: McpConnectionEvents,
  deps: ConnectDeps,
): Promise<McpConnection> {
  await deps.ensurePackages();
  return config.url === undefined
    ? await connectStdio(name, config, events, deps)
    : await connectHttp(name, { ...config, url: config.url }, events, deps);
}

async function connectStdio(
  name: string,
  config: ConnectConfig,
  events: McpConnectionEvents,
  deps: ConnectDeps,
): Promise<McpConnection> {
  const { workspace, audit, signal } = deps;
  const { command = [], read, write, hosts, env } = config;
  const folder = await resolvePath(config.cwd, "read", workspace);
  if (folder.kind === "unresolved") throw new Error(`cwd: ${folder.reason}`);
  if (!folder.file?.isDirectory || !isInside(folder.real, workspace.real)) {
    throw new Error(`cwd: "${folder.real}" is no folder in the workspace`);
  }
  const cwd = folder.real;
  const given = await Promise.all(
    [...read, ...write].map((path) => Deno.realPath(path).catch(() => path)),
  );
  const found = await findProgram(command[0] ?? "", { cwd, roots: [workspace.real, ...given] });
  if ("reason" in found) {
    throw new Error(`command: ${found.reason}, and not in a path of read or write either`);
  }
  // Of what is not the system's, the sandbox has the real path alone.
  const isGiven = [workspace.real, ...given].some((root) => isInside(found.program, root));
  const program = isGiven ? found.program : found.path;
  const argv = [program, ...command.slice(1)];
  const end = await recordStart(deps, {
    server: name,
    transport: "stdio",
    program: found.program,
    argv: audit.digest(canonicalJson(argv)),
    hosts,
  });
  let network: SandboxNetwork | undefined;
  try {
    if (hosts.length > 0) {
      if (deps.openNetwork === undefined) throw new Error("hosts: no program reaches hosts here");
      network = await deps.openNetwork({ hosts, user: { kind: "mcp", server: name }, signal });
    }
    const transport: StdioStart = {
      kind: "stdio",
      command: argv,
      cwd,
      env: { ...COMMAND_ENV, ...env },
      passEnv: network === undefined ? [] : PROXY_ENV,
    };
    const roots = [new URL(`file://${encodePath(workspace.real)}`).href];
    const connection = await openMcpConnection(
      (handlers) =>
        deps.openSandboxed(
          {
            name: "mcp",
            kind: MCP_CHILD,
            params: startOf({ transport, roots }, config, deps),
            permissions: { ...NO_PERMISSIONS, run: [program], env: transport.passEnv },
            sources: SOURCES,
            packages: deps.packages,
            readOnly: read,
            readWrite: write,
            cwd,
            networkSocket: network?.socket,
            startTimeoutMs: START_TIMEOUT_MS,
          },
          handlers,
          { signal },
        ),
      events,
    );
    // Without its network it would fail at everything; it gets a new one with its next start.
    void network?.ended.then((why) => connection.close(`its network has ended: ${why}`));
    return endingWith(connection, async (reason) => {
      await network?.close();
      await end(reason);
    });
  } catch (error) {
    await network?.close();
    await end(toErrorData(error).message);
    throw error;
  }
}

async function connectHttp(
  name: string,
  config: ConnectConfig & { url: string },
  events: McpConnectionEvents,
  deps: ConnectDeps,
): Promise<McpConnection> {
  const target = await lookUp(config.url, deps);
  const { addresses, host, port, url } = target;
  const closed = addresses.find((address) =>
    addressRange(address) !== "public" && !isListed(deps.privateHosts, host, port, address)
  );
  const { origin, pathname } = new URL(url);
  const about = { server: name, transport: "http", url: origin + pathname, addresses };
  if (closed !== undefined) {
    const why = `"${host}" leads to ${closed} (${addressRange(closed)}), which is not public; ` +
      "if that is meant, list the host in gates.privateHosts";
    await deps.audit.append("mcp.refused", { ...about, rule: "fetch.private" });
    throw new Error(`url: ${why}`);
  }
  const end = await recordStart(deps, about);
  const transport: HttpStart = { kind: "http", url, addresses, headers: config.headers };
  try {
    const connection = await openMcpConnection(
      (handlers) =>
        deps.executor.open(
          {
            name: "mcp",
            kind: MCP_CHILD,
            params: startOf({ transport, roots: [] }, config, deps),
            permissions: {
              ...NO_PERMISSIONS,
              net: addresses.map((address) => addressPort(address, port)),
              denyNet: closedRangesWithout(addresses),
            },
            view: {
              readOnly: sourcePaths(SOURCES),
              readWrite: [],
              network: true,
            },
            packages: deps.packages,
            startTimeoutMs: START_TIMEOUT_MS,
          },
          handlers,
          { signal: deps.signal },
        ),
      events,
    );
    return endingWith(connection, end);
  } catch (error) {
    await end(toErrorData(error).message);
    throw error;
  }
}

/** The URL with the addresses that its host has now. */
async function lookUp(
  url: string,
  { executor, workspace, signal }: ConnectDeps,
): Promise<UrlTarget> {
  const target = resolveUrl(url);
  if (target.kind === "unresolved") throw new Error(`url: ${target.reason}`);
  if (target.addresses.length > 0) return target;
  const job = resolverJob(target, { workspace: workspace.real, maxOutputBytes: 10_000 });
  const outcome = await executor.run(job, {
    signal,
    onProgress: () => {},
  });
  if (outcome.type === "addresses" && outcome.addresses.length > 0) {
    return { ...target, addresses: outcome.addresses };
  }
  const reason = outcome.type === "failure" || outcome.type === "fault"
    ? outcome.message
    : outcome.type === "timeout"
    ? "its host's look-up took too long"
    : "its host has no address";
  throw new Error(`url: ${reason}`);
}

/** Records that a server is about to be started; what it answers records the end, and never rejects. */
async function recordStart(
  { audit, log }: Pick<ConnectDeps, "audit" | "log">,
  data: Record<string, unknown>,
): Promise<(reason: string) => Promise<void>> {
  const { seq } = await audit.append("mcp.start", data);
  return async (reason) => {
    await audit.append("mcp.end", { server: data.server, start: seq, reason }).catch((error) =>
      log.error("The end of an MCP server is not on record", { ...toErrorData(error) })
    );
  };
}

/** The connection, closed only when what is to be done at its end is done too. */
function endingWith(
  connection: McpConnection,
  finish: (reason: string) => Promise<void>,
): McpConnection {
  const finished = connection.ended.then(finish);
  return {
    ...connection,
    async close(why) {
      await connection.close(why);
      await finished;
    },
  };
}

function startOf(
  { transport, roots }: Pick<McpStart, "transport" | "roots">,
  { timeoutS }: Pick<ConnectConfig, "timeoutS">,
  { version }: Pick<ConnectDeps, "version">,
): McpStart {
  return {
    transport,
    roots,
    client: { name: "service", version },
    timeoutMs: GREETING_TIMEOUT_MS,
    callTimeoutMs: timeoutS * 1_000,
  };
}

function encodePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}
