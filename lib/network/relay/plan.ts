/**
 * What a relay listens on, and what a sandbox's `/etc/hosts` says: each host that is allowed by its whole
 * name has an address of the sandbox's own loopback, so a connection says by its address whom it is for.
 *
 * @module
 */

import type { HostPort } from "../connect_head.ts";

/** Address and port of the proxy on the sandbox's loopback. */
export const PROXY_ADDRESS = { hostname: "127.0.1.1", port: 3_128 } as const;

/** What the relay is told, in `relay.json` beside the socket. */
export interface RelayPlan {
  /** Name of the real proxy's socket, in the same folder. */
  socket: string;
  proxy: { hostname: string; port: number };
  direct: { hostname: string; port: number; to: HostPort }[];
}

/** Hosts that are had directly; any more are reached by the proxy alone. */
const MAX_DIRECT_HOSTS = 200;
/** Listeners for them. */
const MAX_LISTENERS = 400;

/** The plan for hosts, and the text of `/etc/hosts`. Addresses and patterns have no name to be found by. */
export function planRelay(
  socket: string,
  hosts: readonly HostPort[],
): { plan: RelayPlan; hostsFile: string } {
  const addresses = new Map<string, string>();
  const direct: RelayPlan["direct"] = [];
  for (const to of hosts) {
    if (!addresses.has(to.host)) {
      if (addresses.size >= MAX_DIRECT_HOSTS) continue;
      addresses.set(to.host, `127.0.1.${addresses.size + 2}`);
    }
    if (direct.length >= MAX_LISTENERS) break;
    direct.push({ hostname: addresses.get(to.host)!, port: to.port, to });
  }
  const lines = [
    "127.0.0.1 localhost sandbox",
    "::1 localhost",
    ...[...addresses].map(([host, address]) => `${address} ${host}`),
  ];
  return {
    plan: { socket, proxy: PROXY_ADDRESS, direct },
    hostsFile: `${lines.join("\n")}\n`,
  };
}
