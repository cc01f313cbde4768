/**
 * The names that the resolver of `own_network.ts` knows, and the shape of what it reports.
 *
 * @module
 */

/** An address that counts as public; a server of the test's own has it. */
export const PUBLIC_ADDRESS = "93.184.216.34";

const PUBLIC = [93, 184, 216, 34];
const LOOPBACK = [127, 0, 0, 1];
const mapped = (...v4: number[]) => [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ...v4];
const v6 = (head: number[], ...tail: number[]) => [
  ...head,
  ...Array(16 - head.length - tail.length).fill(0),
  ...tail,
];

/** Addresses of a name, by what they are asked for the first time, the second, and from then on. */
export const ADDRESSES: Record<string, { A?: number[][][]; AAAA?: number[][][] }> = {
  "plain.example": { A: [[PUBLIC]] },
  "rebind.example": { A: [[PUBLIC], [LOOPBACK]] },
  "inner.example": { A: [[LOOPBACK]] },
  "mixed.example": { A: [[PUBLIC, LOOPBACK]] },
  "mixed6.example": { A: [[PUBLIC]], AAAA: [[v6([], 1)]] },
  "metadata.example": { A: [[[169, 254, 169, 254]]] },
  "zero.example": { A: [[[0, 0, 0, 0]]] },
  "shared.example": { A: [[[100, 100, 100, 200]]] },
  "broadcast.example": { A: [[[255, 255, 255, 255]]] },
  "mapped.example": { AAAA: [[mapped(...LOOPBACK)]] },
  "mapped-metadata.example": { AAAA: [[mapped(169, 254, 169, 254)]] },
  "link.example": { AAAA: [[v6([0xfe, 0x80], 1)]] },
  "unique.example": { AAAA: [[v6([0xfd, 0, 0x0e, 0xc2], 2, 0x54)]] },
  "nat64.example": { AAAA: [[v6([0, 0x64, 0xff, 0x9b], ...LOOPBACK)]] },
  "sixtofour.example": { AAAA: [[v6([0x20, 0x02, ...LOOPBACK], 1)]] },
  "any6.example": { AAAA: [[v6([])]] },
  "nothing.example": {},
};

/** What came of each fetch. */
export interface WorldReport {
  fetches: { url: string; status: string; output: string; reached: string[] }[];
  /** Questions that the resolver was asked, `name/A`. */
  asked: string[];
}
