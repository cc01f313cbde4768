/**
 * Where signing keys may be fetched from: the public Internet and the
 * private networks of RFC 1918 and RFC 4193; never this machine, its links, or a cloud's metadata.
 *
 * @module
 */

import ipaddr from "ipaddr.js";
import { addressRange } from "../base/addresses.ts";
import { resolveUrl } from "../policy/resolve/resolve.ts";

/** A URL of keys, read. */
export interface JwksUrl {
  url: string;
  protocol: "http:" | "https:";
  /** Lower case, without brackets. */
  host: string;
  /** The host, if it is an address. */
  address?: string;
}

/** Reads a URL; `problem` says why nothing is fetched from it. */
export function parseJwksUrl(text: string): JwksUrl | { problem: string } {
  const target = resolveUrl(text);
  if (target.kind === "unresolved") return { problem: `cannot be asked: ${target.reason}` };
  const { url, host, addresses: [address] } = target;
  const protocol = url.startsWith("https:") ? "https:" : "http:";
  if (/(?:^|\.)localhost$/.test(host)) return { problem: "leads to this machine" };
  if (address !== undefined) {
    const judged = judgeJwksAddress(address, protocol);
    if ("problem" in judged) return judged;
  }
  return { url, protocol, host, address };
}

/**
 * Judges an address that a host has. The answer's spelling is the one to connect to: what was judged is
 * what is reached.
 */
export function judgeJwksAddress(
  text: string,
  protocol: "http:" | "https:",
): { address: string } | { problem: string } {
  if (!ipaddr.isValid(text)) return { problem: "has an address that is none" };
  const address = ipaddr.process(text).toString();
  const range = addressRange(address);
  if (range === "metadata") return { problem: "leads to a cloud's metadata" };
  if (range === "private" || range === "uniqueLocal") return { address };
  if (range !== "public") {
    return { problem: `leads to an address of a kind that is closed (${range})` };
  }
  // Who can change what is said on the way would give himself the keys.
  if (protocol === "http:") {
    return { problem: "leads over http to an address beyond private networks; take https" };
  }
  return { address };
}
