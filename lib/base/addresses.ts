/**
 * Which addresses belong to the public Internet, and which to this machine, its network or nobody. In
 * doubt an address is not public.
 *
 * @module
 */

import ipaddr from "ipaddr.js";

/**
 * Metadata and host services of clouds whose range says nothing of it: Azure's at a public address
 * (https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16), and those of
 * AWS and Google Cloud over IPv6.
 */
const METADATA: readonly string[] = ["168.63.129.16", "fd00:ec2::254", "fd20:ce::254"];

/** IPv4 ranges that are not public: closed to a fetching child a second time, by Deno itself. */
export const CLOSED_RANGES: readonly string[] = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "224.0.0.0/4",
  "240.0.0.0/4",
  // Deno cannot name ranges of IPv6; this one reaches loopback.
  "[::]",
  "[::1]",
];

/**
 * What an address is: `public`, or a word for the range that it is in. Forms of IPv6 that carry an IPv4
 * address are judged by that one: mapped, NAT64 (RFC 6052) and 6to4 (RFC 3056).
 */
export function addressRange(address: string): string {
  if (!ipaddr.isValid(address)) return "no address";
  const parsed = ipaddr.parse(address);
  if (METADATA.includes(parsed.toString().split("%")[0]!)) return "metadata";
  if (parsed instanceof ipaddr.IPv4) return publicOr(parsed.range());
  const bytes = parsed.toByteArray();
  const range = parsed.range();
  switch (range) {
    case "ipv4Mapped":
      return addressRange(fromBytes(bytes.slice(12)));
    case "6to4":
      return addressRange(fromBytes(bytes.slice(2, 6)));
    case "rfc6052":
      // The well-known prefix only; a network's own one (RFC 8215) says nothing about where it leads.
      return bytes.slice(4, 12).some((byte) => byte !== 0)
        ? "localNat64"
        : addressRange(fromBytes(bytes.slice(12)));
    case "unicast":
      // Only 2000::/3 is given out (RFC 4291); deprecated and unassigned blocks are not.
      return (bytes[0]! & 0xe0) === 0x20 ? "public" : "unassigned";
    default:
      return range;
  }
}

/** Whether two spellings are one address. */
export function isSameAddress(a: string, b: string): boolean {
  return ipaddr.isValid(a) && ipaddr.isValid(b) &&
    ipaddr.process(a).toNormalizedString() === ipaddr.process(b).toNormalizedString();
}

/** The closed ranges without those that hold one of the addresses. */
export function closedRangesWithout(addresses: readonly string[]): string[] {
  return CLOSED_RANGES.filter((range) => !addresses.some((address) => isIn(address, range)));
}

/** `<address>:<port>` as Deno's permissions spell it. */
export function addressPort(address: string, port: number): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

function isIn(address: string, range: string): boolean {
  const parsed = ipaddr.process(address);
  if (range.startsWith("[")) return isSameAddress(address, range.slice(1, -1));
  return parsed instanceof ipaddr.IPv4 && parsed.match(ipaddr.IPv4.parseCIDR(range));
}

function publicOr(range: string): string {
  return range === "unicast" ? "public" : range;
}

function fromBytes(bytes: number[]): string {
  return ipaddr.fromByteArray(bytes).toString();
}

/** What to bind for a host: this machine's own name needs nobody who resolves it. */
export function listenAddress(host: string): string {
  return host.toLowerCase() === "localhost" ? "127.0.0.1" : host;
}
