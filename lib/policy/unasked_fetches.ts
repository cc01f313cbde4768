/**
 * How many URLs of tool results a turn has fetched without anybody being asked. A page may list thousands
 * of URLs, and which of them is fetched tells its owner something: few of them tell little.
 *
 * @module
 */

/** What a turn may fetch so. */
export interface UnaskedFetchLimits {
  /** Fetches of a turn. */
  perTurn: number;
  /** Of them, to one site: a host with its neighbours under the same domain. */
  perSite: number;
}

/** Turns that are counted; of more, the one that fetched least recently begins anew. */
const MAX_TURNS = 10_000;

interface Count {
  all: number;
  bySite: Map<string, number>;
}

export class UnaskedFetches {
  readonly #limits: UnaskedFetchLimits;
  readonly #turns = new Map<string, Count>();

  constructor(limits: UnaskedFetchLimits) {
    this.#limits = limits;
  }

  /** Whether the turn may fetch no more from there. */
  isSpent(turnId: string, host: string): boolean {
    const count = this.#turns.get(turnId);
    return (count?.all ?? 0) >= this.#limits.perTurn ||
      (count?.bySite.get(siteOf(host)) ?? 0) >= this.#limits.perSite;
  }

  /** Counts one. */
  add(turnId: string, host: string): void {
    const count = this.#turns.get(turnId) ?? { all: 0, bySite: new Map() };
    // Again at the end: the first is the one to go.
    this.#turns.delete(turnId);
    this.#turns.set(turnId, count);
    const site = siteOf(host);
    count.all += 1;
    count.bySite.set(site, (count.bySite.get(site) ?? 0) + 1);
    if (this.#turns.size > MAX_TURNS) this.#turns.delete(this.#turns.keys().next().value!);
  }
}

/**
 * The host without the names that its owner makes up: its last two labels, or three where the second is
 * as short as in `co.uk`. In doubt several owners count as one.
 */
export function siteOf(host: string): string {
  if (host.includes(":") || /^[\d.]+$/.test(host)) return host;
  const labels = host.replace(/\.$/, "").split(".");
  const [second = "", top = ""] = labels.slice(-2);
  return labels.slice(top.length === 2 && second.length <= 3 ? -3 : -2).join(".");
}
