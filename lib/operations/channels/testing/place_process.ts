/** What starts the processes of places in tests. */

import { findOwnDenoDir } from "../../../packages/deno_dir.ts";
import { lockedPackages } from "../../../packages/locked_packages.ts";
import type { ChannelPlacesDeps } from "../channel_places.ts";
import { createChannelExecutor } from "../create_channel_executor.ts";

const silent = { debug() {}, info() {}, warning() {}, error() {} };
const env = (name: string) => Deno.env.get(name);

/** `cacheDir`: a folder that is the test's own. */
export function placeProcess(
  cacheDir: string,
  { sandbox }: { sandbox?: "auto" | "off" } = {},
): Pick<ChannelPlacesDeps, "locked" | "executor" | "cacheDir" | "env"> {
  return {
    locked: lockedPackages(findOwnDenoDir(env)),
    executor: createChannelExecutor({ cacheDir, log: silent, sandbox }),
    cacheDir: `${cacheDir}/channels`,
    env,
  };
}
