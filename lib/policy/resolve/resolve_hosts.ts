/**
 * From the hosts that a command wants to reach to one list of them, so that the same wish is always the
 * same text.
 *
 * @module
 */

import { joinHostPort, parseHostPattern } from "../../base/host_pattern.ts";

/** Ports that a host without one means. */
const DEFAULT_PORTS = [80, 443];

/** Most hosts that one command may name. */
const MAX_COMMAND_HOSTS = 20;

/** `<host>:<port>`, lower case, sorted, each once; or why that cannot be said. */
export function resolveHosts(named: readonly string[]): { hosts: string[] } | { problem: string } {
  if (named.length > MAX_COMMAND_HOSTS) {
    return { problem: `it names ${named.length} hosts, expected at most ${MAX_COMMAND_HOSTS}` };
  }
  const hosts = new Set<string>();
  for (const text of named) {
    const pattern = parseHostPattern(text);
    if (pattern === undefined || pattern.ending !== undefined) {
      const shown = JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
      return { problem: `hosts: ${shown} is not <host> or <host>:<port>` };
    }
    const ports = pattern.port === undefined ? DEFAULT_PORTS : [pattern.port];
    for (const port of ports) hosts.add(joinHostPort(pattern.host, port));
  }
  return { hosts: [...hosts].sort() };
}
