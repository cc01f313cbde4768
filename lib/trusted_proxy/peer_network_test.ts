import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { coveredFamily, isInNetworks, parsePeerNetwork, type PeerNetwork } from "./peer_network.ts";
import { rounds } from "../../tests/support/rounds.ts";

function read(text: string): PeerNetwork {
  const network = parsePeerNetwork(text);
  if ("problem" in network) throw new Error(`${text} ${network.problem}`);
  return network;
}

const isRefused = (text: string) => "problem" in parsePeerNetwork(text);
const bytes4 = fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => [...bytes]);
const bytes16 = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => [...bytes])
  .filter((bytes) => !isMapped(bytes));
const v4 = (bytes: readonly number[]) => bytes.join(".");
const mapped = (bytes: readonly number[]) => `::ffff:${v4(bytes)}`;
const bits = (bytes: readonly number[]) =>
  bytes.map((byte) => byte.toString(2).padStart(8, "0")).join("");

function isMapped(bytes: readonly number[]): boolean {
  return bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
}

/** The address in full, without any abbreviation. */
function v6(bytes: readonly number[]): string {
  return Array.from(
    { length: 8 },
    (_, at) => ((bytes[at * 2]! << 8) | bytes[at * 2 + 1]!).toString(16),
  ).join(":");
}

/** An address near to another: the same up to some bit. */
function near(bytes: readonly number[], other: readonly number[], same: number): number[] {
  const text = bits(bytes).slice(0, same) + bits(other).slice(same);
  return Array.from(bytes, (_, at) => parseInt(text.slice(at * 8, at * 8 + 8), 2));
}

Deno.test("isInNetworks() holds the first bits of IPv4 against each other, in both spellings of both", () => {
  fc.assert(
    fc.property(bytes4, bytes4, fc.nat(32), fc.integer({ min: 1, max: 32 }), (a, b, same, n) => {
      const peer = near(a, b, same);
      const expected = bits(a).slice(0, n) === bits(peer).slice(0, n);
      for (const network of [read(`${v4(a)}/${n}`), read(`${mapped(a)}/${n + 96}`)]) {
        for (const address of [v4(peer), mapped(peer)]) {
          assertEquals(isInNetworks(address, [network]), expected);
        }
      }
    }),
    { numRuns: rounds(1_000) },
  );
});

Deno.test("isInNetworks() holds the first bits of IPv6 against each other", () => {
  fc.assert(
    fc.property(
      bytes16,
      bytes16,
      fc.nat(128),
      fc.integer({ min: 1, max: 128 }),
      (a, b, same, n) => {
        const peer = near(a, b, same);
        const network = parsePeerNetwork(`${v6(a)}/${n}`);
        // Only what holds all of IPv4 as well is refused.
        const prefix = bits(a).slice(0, n);
        const all = "0".repeat(80) + "1".repeat(16);
        assertEquals("problem" in network, all.startsWith(prefix));
        if ("problem" in network || isMapped(peer)) return;
        const expected = bits(peer).startsWith(prefix);
        assertEquals(isInNetworks(v6(peer), [network]), expected);
        assertEquals(isInNetworks(`${v6(peer)}%eth0`, [network]), expected);
      },
    ),
    { numRuns: rounds(1_000) },
  );
});

Deno.test("isInNetworks() never takes one family for the other", () => {
  fc.assert(fc.property(bytes4, bytes16, fc.integer({ min: 1, max: 32 }), (a, b, n) => {
    assertEquals(isInNetworks(v6(b), [read(`${v4(a)}/${n}`)]), false);
    // Neither the compatible form nor NAT64 is the address that it carries.
    assertEquals(isInNetworks(`::${v4(a)}`, [read(v4(a))]), false);
    assertEquals(isInNetworks(`64:ff9b::${v4(a)}`, [read(v4(a))]), false);
  }));
});

Deno.test("parsePeerNetwork() refuses prefix 0 with every address, and everything that is no network", () => {
  fc.assert(fc.property(bytes4, bytes16, (a, b) => {
    for (const text of [`${v4(a)}/0`, `${v6(b)}/0`, `${mapped(a)}/0`, `${mapped(a)}/96`]) {
      assertEquals(isRefused(text), true, text);
    }
  }));
  fc.assert(fc.property(fc.string(), (text) => {
    const network = parsePeerNetwork(text);
    if (!("problem" in network)) assertEquals(/^[0-9a-f:.]+(\/\d+)?$/i.test(text), true);
  }));
  fc.assert(fc.property(fc.string(), (text) => {
    assertEquals(isInNetworks(text, []), false);
  }));
});

Deno.test("coveredFamily() finds networks that split the whole in any way, and none where one is left out", () => {
  const splits = fc.array(fc.nat(), { maxLength: 20 }).map((cuts) => {
    let prefixes = [""];
    for (const cut of [0, ...cuts]) {
      const at = cut % prefixes.length;
      const one = prefixes[at]!;
      if (one.length < 32) prefixes = prefixes.toSpliced(at, 1, `${one}0`, `${one}1`);
    }
    return prefixes;
  });
  const toNetwork = (prefix: string) => {
    const full = prefix.padEnd(32, "0");
    const octets = [0, 8, 16, 24].map((at) => parseInt(full.slice(at, at + 8), 2));
    return read(`${v4(octets)}/${prefix.length}`);
  };
  fc.assert(fc.property(splits, fc.nat(), (prefixes, left) => {
    const networks = prefixes.map(toNetwork);
    assertEquals(coveredFamily(networks), "ipv4");
    assertEquals(coveredFamily(networks.toReversed()), "ipv4");
    assertEquals(coveredFamily(networks.toSpliced(left % networks.length, 1)), undefined);
  }));
});

Deno.test("coveredFamily() stays quick with many networks", () => {
  const networks = Array.from({ length: 2_000 }, (_, at) => read(`10.${at >> 8}.${at & 255}.0/24`));
  assertEquals(coveredFamily(networks), undefined);
});
