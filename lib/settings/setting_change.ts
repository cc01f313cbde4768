/**
 * One change of a setting.
 *
 * @module
 */

/** One key that is to have another value. */
export interface SettingChange {
  /** As people write it, such as `agent.maxSteps`. */
  path: string;
  /** null takes the key out; a blank text for a secret keeps the one that is stored. */
  value: unknown;
}
