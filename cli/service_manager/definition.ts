/**
 * What the service is started with, whatever starts it.
 *
 * @module
 */

/** Beside its definition, all that a service manager is told. */
export interface Definition {
  /** Arguments that start this program, its absolute path first. */
  program: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Folders that it writes to. A missing one is ignored. */
  writable: readonly string[];
  /** How long running turns get when it stops (`agent.drainTimeoutS`). */
  drainTimeoutS: number;
  /** Where its log goes, unless the manager keeps it. */
  logFile: string;
}

/** By this line the file of a definition is known as ours. */
export const MARK = "Written by: service install";

/** How long a stop may take: beside its turns 10 s, and some time to spare (docs/operations.md). */
export function stopTimeoutS({ drainTimeoutS }: Definition): number {
  return drainTimeoutS + 30;
}
