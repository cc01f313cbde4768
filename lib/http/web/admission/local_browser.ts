/**
 * Whether a request is of a browser or program on this machine: who is let in
 * while no secret is set.
 *
 * @module
 */

import type { TrustedProxyConfig } from "../../../config/schema.ts";
import { isLoopbackHost } from "../../../base/loopback_host.ts";
import {
  isInNetworks,
  parsePeerNetwork,
  type PeerNetwork,
} from "../../../trusted_proxy/peer_network.ts";
import type { Arrival } from "../web_route.ts";

/** Headers by which proxies and tunnels say for whom they ask; each may hold a list. */
const CLIENT_HEADERS =
  /^(?:(?:x-)?(?:original-)?forwarded-for|x-forwarded-host|x-real-ip|(?:.+-)?client-?ip|(?:.+-)?user-ip|(?:.+-)?connecting-ip(?:v6)?|x-envoy-external-address)$/;

/** Headers that show one, but not for whom it asks. */
const PROXY_HEADERS =
  /^(?:via|cdn-loop|x-forwarded(?:-.+)?|x-original-.+|x-envoy-.+|cf-.+|fly-.+|fastly-.+|x-azure-.+|x-appengine-.+|ngrok-.+|tailscale-.+)$/;

/** Why a request is not taken for one of this machine; undefined for one that is. */
export function foreignReason(
  { headers }: Request,
  { peerAddress }: Pick<Arrival, "peerAddress">,
  proxy: Pick<TrustedProxyConfig, "trustedPeerCidrs"> | null,
): string | undefined {
  if (peerAddress === undefined) {
    return "it comes over a Unix socket, where whoever asks a proxy cannot be told from who is here";
  }
  if (!isLoopbackHost(peerAddress.replace(/^::ffff:/i, ""))) {
    return "it comes from another machine";
  }
  if (proxy !== null && isInNetworks(peerAddress, networksOf(proxy))) {
    return "it comes from the address of the trusted proxy";
  }
  const host = headers.get("host") ?? "";
  if (!isLocalName(host)) return "its Host is no loopback name or address";
  const forwarded = forwardedReason(headers);
  if (forwarded !== undefined) return forwarded;
  const origin = headers.get("origin");
  if (origin !== null) {
    const wanted = host.trim().toLowerCase();
    const own = ["http", "https"].map((scheme) => `${scheme}://${wanted}`);
    if (!own.includes(origin.toLowerCase())) return "its Origin is not that of its Host";
  }
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") {
    return "a page of another origin sends it";
  }
  return undefined;
}

function forwardedReason(headers: Headers): string | undefined {
  const foreign = "a proxy sends it for somebody on another machine";
  let named = false;
  for (const [name, value] of headers) {
    if (!CLIENT_HEADERS.test(name)) continue;
    if (!value.split(",").every(isLocalName)) return foreign;
    named ||= name !== "x-forwarded-host";
  }
  const forwarded = headers.get("forwarded");
  if (forwarded !== null) {
    for (const element of forwarded.split(",")) {
      const pairs = element.split(";").map((pair) => /^\s*(\w+)\s*=\s*"?([^"]*)"?\s*$/.exec(pair));
      const clients = pairs.filter((pair) => pair?.[1]?.toLowerCase() === "for");
      // Whatever is not plainly of this machine is not.
      if (clients.length === 0 || !clients.every((pair) => isLocalName(pair![2]!))) return foreign;
    }
    named = true;
  }
  const byProxy = headers.has("x-forwarded-host") ||
    [...headers.keys()].some((name) => PROXY_HEADERS.test(name));
  return byProxy && !named ? "a proxy sends it and does not say for whom" : undefined;
}

/** A name or address, with a port or without, that leads to this machine. */
function isLocalName(text: string): boolean {
  const [, bracketed, plain] = /^\s*(?:\[([0-9a-f:.]+)\]|([^\s:]+))(?::\d{1,5})?\s*$/i.exec(text) ??
    /^\s*()([0-9a-f:.]+)\s*$/i.exec(text) ?? [];
  const host = (bracketed || plain || "").toLowerCase();
  return isLoopbackHost(host.replace(/^::ffff:/, "")) || /^[a-z0-9.-]+\.localhost$/.test(host);
}

function networksOf({ trustedPeerCidrs }: Pick<TrustedProxyConfig, "trustedPeerCidrs">) {
  return trustedPeerCidrs.map((text) => parsePeerNetwork(text))
    .filter((each): each is PeerNetwork => !("problem" in each));
}
