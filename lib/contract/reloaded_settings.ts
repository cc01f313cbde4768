/**
 * What became of a configuration file that was read again.
 *
 * @module
 */

/** Keys whose values have changed in the file. */
export interface ReloadedSettings {
  /** Those that came in force since somebody last asked. */
  live: string[];
  /** Those that wait for a restart, from earlier too. */
  waiting: string[];
  /** Why the file cannot be used; what ran before goes on as it was. */
  problem?: string;
}
