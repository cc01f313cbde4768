/**
 * Networks of direct TCP peers. An IPv4 address has one meaning
 * here however a socket spells it: `::ffff:10.0.0.1` is 10.0.0.1.
 *
 * @module
 */

import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A network of one family. */
export interface PeerNetwork {
  readonly address: Address;
  /** Bits that all of its addresses begin with; at least 1. */
  readonly length: number;
}

/** Bits of an IPv6 address that say: what follows is one of IPv4 (RFC 4291, 2.5.5.2). */
const MAPPED_LENGTH = 96;
const MAPPED = ipaddr.IPv6.parse("::ffff:0:0");

/**
 * Reads `<address>/<bits>`, or an address for itself alone. Bits of the address beyond the prefix do
 * not count, so a prefix of length 0 is the whole family whatever stands before it: refused, as is every
 * IPv6 network that holds all of IPv4 in its mapped form.
 */
export function parsePeerNetwork(text: string): PeerNetwork | { problem: string } {
  const match = /^([^/]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text);
  const written = match === null ? undefined : parseAddress(match[1]!);
  const length = match?.[2] === undefined ? bitLength(written) : Number(match[2]);
  if (written === undefined || length > bitLength(written)) {
    return { problem: "is no network of addresses, such as 10.0.0.0/8 or fd00::/8" };
  }
  const everybody = { problem: "is every address of IPv4 or IPv6, so it would trust everybody" };
  if (length === 0) return everybody;
  if (written instanceof ipaddr.IPv4) return { address: written, length };
  if (length <= MAPPED_LENGTH && MAPPED.match(written, length)) return everybody;
  if (!written.isIPv4MappedAddress()) return { address: written, length };
  return { address: written.toIPv4Address(), length: length - MAPPED_LENGTH };
}

/** The family that the networks hold whole between them, as 0.0.0.0/1 and 128.0.0.0/1 do. */
export function coveredFamily(networks: readonly PeerNetwork[]): "ipv4" | "ipv6" | undefined {
  return (["ipv4", "ipv6"] as const).find((family) => {
    const prefixes = networks.filter(({ address }) => address.kind() === family)
      .map(({ address, length }) => bitsOf(address).slice(0, length));
    return covers(prefixes, "");
  });
}

/** Whether an address, as a socket tells it, is in one of the networks. */
export function isInNetworks(peerAddress: string, networks: readonly PeerNetwork[]): boolean {
  // A link-local peer comes with the interface that it is reached by (RFC 4007).
  const parsed = parseAddress(peerAddress.replace(/%[\w.-]+$/, ""));
  if (parsed === undefined) return false;
  const isMapped = parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress();
  const address = isMapped ? parsed.toIPv4Address() : parsed;
  return networks.some((each) =>
    each.address.kind() === address.kind() && address.match(each.address, each.length)
  );
}

/** Only what means the same to everybody: `010.0.0.1`, `0x7f.1` and `10.1` do not. */
function parseAddress(text: string): Address | undefined {
  if (!text.includes(":")) {
    return ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.IPv4.parse(text) : undefined;
  }
  if (!/^[0-9A-Fa-f:.]+$/.test(text) || !ipaddr.IPv6.isValid(text)) return undefined;
  const dotted = /[0-9.]*\.[0-9.]*$/.exec(text)?.[0];
  if (dotted === undefined) return ipaddr.IPv6.parse(text);
  // The library takes any address with a dotted end for a mapped one, `::10.0.0.1` too.
  if (!ipaddr.IPv4.isValidFourPartDecimal(dotted)) return undefined;
  const [a, b, c, d] = ipaddr.IPv4.parse(dotted).octets as [number, number, number, number];
  const groups = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  return ipaddr.IPv6.parse(text.slice(0, -dotted.length) + groups);
}

function bitLength(address: Address | undefined): number {
  return address instanceof ipaddr.IPv4 ? 32 : 128;
}

function bitsOf(address: Address): string {
  return address.toByteArray().map((byte) => byte.toString(2).padStart(8, "0")).join("");
}

function covers(prefixes: readonly string[], prefix: string): boolean {
  if (prefixes.includes(prefix)) return true;
  const inside = prefixes.filter((each) => each.startsWith(prefix));
  return inside.length > 1 && covers(inside, `${prefix}0`) && covers(inside, `${prefix}1`);
}
