/**
 * Secrets of the operator's: encrypted at rest with AES-256-GCM, changed by `service secrets`, given by
 * name to what they are for (decisions E9).
 *
 * @module
 */

/** What may be said of a secret: everything but its value. */
export interface SecretInfo {
  /** `A-Z`, 0-9 and `_`, a letter first, at most 64 characters: a variable's name. */
  name: string;
  /** Hosts that it may be sent to, as `lib/host_pattern.ts` reads them. */
  hosts: readonly string[];
  /** Whole commands that it may be given to, as targets of `exec` in `gates.rules`. */
  commands: readonly string[];
  /** Milliseconds since 1970. */
  createdAt: number;
  updatedAt: number;
}

/** A secret with its value. */
export interface Secret extends SecretInfo {
  value: string;
}

/** The secrets of a home. A change by another process is seen at the next call. */
export interface SecretStore {
  /**
   * Adds a secret or replaces it. Throws `invalid_request`, naming the field, for a name, scope or value
   * (8 characters at least, 64 KiB at most) that cannot be; never repeats the value.
   */
  set(secret: Pick<Secret, "name" | "value" | "hosts" | "commands">): Promise<SecretInfo>;
  /** False when there was none. */
  remove(name: string): Promise<boolean>;
  /** By name. Throws `refused` when the state is damaged. */
  list(): SecretInfo[];
  /** Throws `refused` when the state is damaged or the key is another one. */
  reveal(name: string): Secret | undefined;
  /** All of them, for scrubbing; none while the state is damaged. */
  revealAll(): readonly Secret[];
  /** Called after each change that this process sees. Returns what ends that. */
  onChange(listener: () => void): () => void;
  /** Why nothing can be read, for people. */
  damaged(): string | undefined;
  /** Sets a damaged file aside; there are no secrets then. False when it is not damaged. */
  reset(): Promise<boolean>;
}
