/**
 * A secret of `service secrets`, and what is known of one without its value.
 *
 * @module
 */

/** A secret with its value. */
export interface Secret extends SecretInfo {
  value: string;
}

/** What may be said of a secret: everything but its value. */
export interface SecretInfo {
  /** `A-Z`, 0-9 and `_`, a letter first, at most 64 characters: a variable's name. */
  name: string;
  /** Hosts that it may be sent to, as `lib/base/host_pattern.ts` reads them. */
  hosts: readonly string[];
  /** Whole commands that it may be given to, as targets of `exec` in `gates.rules`. */
  commands: readonly string[];
  /** Milliseconds since 1970. */
  createdAt: number;
  updatedAt: number;
}
