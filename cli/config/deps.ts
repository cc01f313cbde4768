/**
 * What `service config` works on.
 *
 * @module
 */

import type { ChannelRegistry } from "../../lib/registry/channel_registry.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import type { Env } from "../../lib/config/references.ts";
import type { Globals } from "../command.ts";

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

/** What a command of this process works on. */
export async function configDeps(globals: Globals): Promise<ConfigDeps> {
  const { homePaths } = await import("../home_paths.ts");
  return {
    paths: homePaths(globals),
    lastGood: globals.lastGood,
    env: (name) => Deno.env.get(name),
    channels: async () => {
      const [{ CHANNELS }, { openRegistry }] = await Promise.all([
        import("../../channels/mod.ts"),
        import("../../lib/registry/open_registry.ts"),
      ]);
      return await openRegistry(CHANNELS);
    },
    stdin: Deno.stdin,
  };
}
