/**
 * A channel as the static map of channels has it: paths of modules, and a manifest that is loaded when it
 * is asked for, so that one that throws hurts nobody else.
 *
 * @module
 */

/** Loads a file of a channel's languages, by a literal import of the static map. */
export type LocaleLoader = () => Promise<{ default: unknown }>;

export interface ChannelPackage {
  /** Its folder, which is its name. */
  folder: string;
  /** Loads the manifest, by a literal import of the static map. */
  loadManifest(): Promise<{ default: unknown }>;
  /** Files of the folder that a manifest may name, such as `runtime.ts`, with their URLs. */
  modules: Readonly<Record<string, string>>;
  /** Loads `locales/<language>.json`, by the language. */
  locales?: Readonly<Record<string, LocaleLoader>>;
}
