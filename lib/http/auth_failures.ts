/**
 * Counts failed authentication by peer address over a sliding minute, in bounded memory.
 *
 * @module
 */

/** Bounds of the count. */
export interface AuthFailuresOptions {
  /** Failures a minute from one address, after which it is refused. */
  perMinute: number;
  /** Milliseconds since some moment; never jumps. */
  elapsed: () => number;
  /** Addresses remembered; the one that failed longest ago is forgotten first. Default 10,000. */
  maxPeers?: number;
}

/** One slot a second, so that the window slides and its size does not depend on the limit. */
const SLOTS = 60;

interface Peer {
  counts: Uint32Array;
  total: number;
  /** The second up to which the slots are valid. */
  second: number;
}

/** Failures of a sliding minute; one instance serves every listener that checks the same secret. */
export class AuthFailures {
  readonly #options: Required<AuthFailuresOptions>;
  readonly #peers = new Map<string, Peer>();

  constructor(options: AuthFailuresOptions) {
    this.#options = { maxPeers: 10_000, ...options };
  }

  /** Addresses that are remembered. */
  get size(): number {
    return this.#peers.size;
  }

  /**
   * Records a failure. Returns 0, or, when the address had used up its failures before, after how
   * many seconds it may fail again; such a failure is not counted, so that the time is true.
   */
  record(address: string): number {
    const second = Math.floor(this.#options.elapsed() / 1000);
    const peer = this.#peers.get(address) ?? { counts: new Uint32Array(SLOTS), total: 0, second };
    this.#peers.delete(address);
    this.#peers.set(address, peer);
    if (this.#peers.size > this.#options.maxPeers) {
      this.#peers.delete(this.#peers.keys().next().value!);
    }
    forgetOld(peer, second);
    if (peer.total >= this.#options.perMinute) {
      return secondsUntilBelow(peer, this.#options.perMinute);
    }
    peer.counts[second % SLOTS]!++;
    peer.total++;
    return 0;
  }
}

function forgetOld(peer: Peer, second: number): void {
  const steps = Math.min(second - peer.second, SLOTS);
  for (let step = 1; step <= steps; step++) {
    const slot = (peer.second + step) % SLOTS;
    peer.total -= peer.counts[slot]!;
    peer.counts[slot] = 0;
  }
  peer.second = second;
}

function secondsUntilBelow(peer: Peer, limit: number): number {
  let left = peer.total;
  for (let step = 1; step <= SLOTS; step++) {
    left -= peer.counts[(peer.second + step) % SLOTS]!;
    if (left < limit) return step;
  }
  return SLOTS;
}
