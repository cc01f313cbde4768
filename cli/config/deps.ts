/**
 * What `service config` works on.
 *
 * @module
 */

import type { ChannelRegistry } from "../../lib/registry/channel_registry.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import type { Env } from "../../lib/config/references.ts";

/** Handed in, so that tests need no process. */
export interface ConfigDeps {
  paths: HomePaths;
  /** Look at the last configuration that loaded instead of the file. */
  lastGood: boolean;
  env: Env;
  /** The packages of channels, without their runtimes. */
  channels(): Promise<ChannelRegistry>;
  stdin: { readonly readable: ReadableStream<Uint8Array>; isTerminal(): boolean };
}
