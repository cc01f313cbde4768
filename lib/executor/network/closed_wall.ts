/**
 * The second wall around a proxy: ranges that Deno itself keeps closed to it, whatever it was told. It
 * has to let through what the operator listed in `gates.privateHosts`.
 *
 * @module
 */

import ipaddr from "ipaddr.js";
import type { HostPattern } from "../../base/host_pattern.ts";
import { parseHostPattern } from "../../base/host_pattern.ts";
import { closedRangesWithout } from "../../base/addresses.ts";

/**
 * The ranges that stay closed. A listed address opens its own; a listed name that these hosts may mean
 * may have any address, so it opens all, and the judgement of each address is what holds.
 */
export function closedWall(
  patterns: readonly HostPattern[],
  privateHosts: readonly string[],
): string[] {
  const addresses: string[] = [];
  for (const entry of privateHosts) {
    const host = parseHostPattern(entry)?.host ?? bareAddress(entry);
    // What cannot be read lists nothing.
    if (host === undefined) continue;
    if (ipaddr.isValid(host)) addresses.push(host);
    else if (patterns.some((pattern) => mayMean(pattern, host))) return [];
  }
  return closedRangesWithout(addresses);
}

/** An address of IPv6 without brackets, as the list may have it. */
function bareAddress(entry: string): string | undefined {
  return ipaddr.isValid(entry) ? entry : undefined;
}

function mayMean({ host, ending }: HostPattern, name: string): boolean {
  return ending === undefined ? host === name : name.endsWith(ending);
}
