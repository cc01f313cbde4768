/**
 * What a proof is.
 *
 * @module
 */

/** One line of the table. */
export interface Line {
  what: string;
  value: string;
  /** Absent for what is only counted. */
  holds?: boolean;
}

/** How a proof is run. */
export interface ProofRun {
  /** How much of it; what a round is, each proof says. */
  rounds: number;
  /** Says how far it is. */
  tell(text: string): void;
}

/** A proof. */
export interface Proof {
  /** What it shows, as a sentence. */
  claim: string;
  /** Default. */
  rounds: number;
  /** With fewer rounds it shows nothing. Default 1. */
  least?: number;
  run(how: ProofRun): Promise<Line[]>;
}

/** A number that has to be nothing. */
export function none(what: string, count: number): Line {
  return { what, value: String(count), holds: count === 0 };
}

/** The value below which that share of them lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
