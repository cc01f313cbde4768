/** Options of {@linkcode parseArgs}, as far as they are used here. */
export interface ParseOptions {
  /** Names whose value stays text. */
  string?: readonly string[];
  /** Names that are flags. */
  boolean?: readonly string[];
}

/** Arguments by name; what has no name is under `_`. */
export declare function parseArgs(
  args: readonly string[],
  options?: ParseOptions,
): { _: (string | number)[]; [name: string]: unknown };
