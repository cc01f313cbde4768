/**
 * What `service plugins` works on.
 *
 * @module
 */

import type { SetupFinding } from "../../lib/channel/descriptor.ts";
import type { ChannelRegistry } from "../../lib/registry/channel_registry.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import type { Env } from "../../lib/config/references.ts";
import type { PackageFetcher } from "../../lib/packages/package_fetcher.ts";
import type { Globals } from "../command.ts";
import { ensurePackages } from "../ensure_packages.ts";
import type { Output } from "../output.ts";
import type { CheckAsked } from "./check_in_worker.ts";

/** The HTTP API's section, which is switched like a channel; no channel may have the name. */
export const API = "api";

/** Handed in, so that tests need no process. */
export interface PluginsDeps {
  paths: HomePaths;
  env: Env;
  /** The packages of channels, without their runtimes. */
  channels(): Promise<ChannelRegistry>;
  /** Fetches the packages of a channel that is switched on. */
  packages: Pick<PackageFetcher, "ensure">;
  /** Asks its package whether the settings of one that is switched on work. */
  check(asked: CheckAsked): Promise<SetupFinding[]>;
}

/** What a command of this process works on. */
export async function pluginsDeps(globals: Globals, out: Output): Promise<PluginsDeps> {
  const { homePaths } = await import("../home_paths.ts");
  const env = (name: string) => Deno.env.get(name);
  const paths = homePaths(globals);
  return {
    paths,
    env,
    channels: loadChannels,
    packages: { ensure: ensurePackages },
    async check(asked) {
      const [{ checkInWorker }, { noteLog }] = await Promise.all([
        import("./check_in_worker.ts"),
        import("../channels/note_log.ts"),
      ]);
      // What it finds is told; how it went about it is of no use here.
      return await checkInWorker(asked, { paths, log: { ...noteLog(out), debug() {}, info() {} } });
    },
  };
}

/** Loads every manifest, and no runtime. */
export async function loadChannels(): Promise<ChannelRegistry> {
  const [{ CHANNELS }, { openRegistry }] = await Promise.all([
    import("../../channels/mod.ts"),
    import("../../lib/registry/open_registry.ts"),
  ]);
  return await openRegistry(CHANNELS);
}
