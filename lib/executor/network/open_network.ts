/**
 * The network of one sandboxed program: a proxy of ours in a child outside of the sandbox, reached over
 * one Unix socket that is bound into it. Each connection is judged by rule E7, and the
 * record has one entry a host.
 *
 * @module
 */

import type { Log } from "../../base/log.ts";
import { PROXY_CHILD, type ProxyLimits, type ProxyStart } from "../../network/proxy/protocol.ts";
import { planRelay } from "../../network/relay/plan.ts";
import type { AuditLog } from "../../audit/log.ts";
import { NO_PERMISSIONS } from "../command.ts";
import type { Executor } from "../executor.ts";
import { closedWall } from "./closed_wall.ts";
import { NetworkJudge, type NetworkRefusal } from "./network_judge.ts";
import type { OwnListeners } from "../../policy/resolve/own_listeners.ts";
import { sourcePaths } from "../../base/layout.ts";

/** An open proxy. */
export interface SandboxNetwork {
  /**
   * The socket, a path in a 0700 folder of its own, which holds what the sandbox is to know beside it:
   * `hosts` for `/etc/hosts`, and `relay.json`.
   */
  readonly socket: string;
  /** Resolves with why, for people, when it has ended, however that came. */
  readonly ended: Promise<string>;
  /** The first connections that were not made, each host and port once. */
  refusals(): readonly NetworkRefusal[];
  /** Ends it and every connection, and removes the socket. Never rejects. */
  close(): Promise<void>;
}

/** What it lets through. */
export interface SandboxNetworkOptions {
  /** Allowed hosts, as `lib/base/host_pattern.ts` reads them; without a port 80 and 443. */
  hosts: readonly string[];
  /** For the record: `exec` or `mcp:<server>`, and the turn where there is one. */
  user: { kind: "exec"; sessionKey: string; turnId: string; callId: string } | {
    kind: "mcp";
    server: string;
  };
  /** Gives up the start; nothing once it is open. */
  signal?: AbortSignal;
}

/** What networks are opened with. */
export interface NetworkDeps {
  executor: Pick<Executor, "open" | "childUser">;
  audit: Pick<AuditLog, "append">;
  /** `gates.privateHosts`. */
  privateHosts: readonly string[];
  /** Where the service itself listens now: never reached, whoever lists it. */
  listeners: () => OwnListeners;
  /** Folder, 0700, with a path of at most 80 bytes: names of sockets are short. */
  socketDir: string;
  log: Log;
  /** Other bounds than the usual ones; for tests. */
  limits?: Partial<ProxyLimits>;
}

/** How a proxy is bounded. */
export const PROXY_LIMITS: ProxyLimits = {
  maxConnections: 64,
  headMs: 10_000,
  lookUpMs: 10_000,
  connectMs: 8_000,
  // Longer than servers let a client wait for a first byte.
  idleMs: 5 * 60_000,
  halfOpenMs: 60_000,
};

/** What folders of networks are called. */
const FOLDER = /^n-[0-9a-f]{12}$/;

/** Opens one. Rejects with an Error that says why it cannot be, or with the signal's reason. */
export async function openNetwork(
  deps: NetworkDeps,
  { hosts, user, signal }: SandboxNetworkOptions,
): Promise<SandboxNetwork> {
  const judge = new NetworkJudge({ ...deps, hosts, user: userData(user) });
  const name = crypto.randomUUID().replaceAll("-", "").slice(0, 12);
  const folder = `${await Deno.realPath(deps.socketDir)}/n-${name}`;
  const start: ProxyStart = {
    socket: `${folder}/proxy.sock`,
    limits: { ...PROXY_LIMITS, ...deps.limits },
  };
  const remove = () => Deno.remove(folder, { recursive: true }).catch(() => {});
  await Deno.mkdir(folder, { mode: 0o700 });
  try {
    const { plan, hostsFile } = planRelay("proxy.sock", judge.wholeNames());
    await Deno.writeTextFile(`${folder}/hosts`, hostsFile);
    await Deno.writeTextFile(`${folder}/relay.json`, JSON.stringify(plan));
    // The proxy and whoever it serves are that user.
    const { user: other } = await deps.executor.childUser();
    if (other !== undefined) {
      for (const name of ["", "/hosts", "/relay.json"]) {
        await Deno.chown(folder + name, other.uid, other.gid);
      }
    }
    const session = await deps.executor.open({
      name: "network_proxy",
      kind: PROXY_CHILD,
      params: start,
      permissions: {
        ...NO_PERMISSIONS,
        read: [folder],
        write: [folder],
        net: [`unix:${start.socket}`],
        everyAddress: true,
        denyNet: closedWall(judge.patterns, deps.privateHosts),
      },
      view: {
        readOnly: sourcePaths(["lib/network"]),
        readWrite: [folder],
        network: true,
      },
    }, {
      calls: {
        host: (asked) => judge.host(asked),
        addresses: (asked) => judge.addresses(asked),
      },
      notices: { unreached: (unreached) => judge.unreached(unreached) },
    }, { signal });
    return {
      socket: start.socket,
      ended: session.ended,
      refusals: () => judge.refusals(),
      async close() {
        await session.close().catch(() => {});
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Removes what networks of a process left that was killed; only for the owner of the home. */
export async function removeLeftNetworks(socketDir: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(socketDir)) {
    if (!isDirectory || !FOLDER.test(name)) continue;
    await Deno.remove(`${socketDir}/${name}`, { recursive: true }).catch(() => {});
  }
}

function userData(user: SandboxNetworkOptions["user"]): Record<string, unknown> {
  return user.kind === "mcp"
    ? { user: `mcp:${user.server}` }
    : { user: "exec", session: user.sessionKey, turn: user.turnId, call: user.callId };
}
