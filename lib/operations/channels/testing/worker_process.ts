/** What starts the processes of workers in tests. */

import { findOwnDenoDir } from "../../../packages/deno_dir.ts";
import { fetchedPackages } from "../../../packages/locked_packages.ts";
import type { ChannelWorkersDeps } from "../channel_workers.ts";
import { createChannelExecutor } from "../create_channel_executor.ts";

const silent = { debug() {}, info() {}, warning() {}, error() {} };
const env = (name: string) => Deno.env.get(name);

/** Of each channel. */
export const STATE_KEY = new Uint8Array(32).fill(7);

/** `cacheDir`: a folder that is the test's own. */
export function workerProcess(
  cacheDir: string,
  { sandbox }: { sandbox?: "auto" | "off" } = {},
): Pick<ChannelWorkersDeps, "stateKey" | "locked" | "executor" | "cacheDir" | "env"> {
  return {
    stateKey: () => Promise.resolve(STATE_KEY),
    locked: fetchedPackages(findOwnDenoDir(env)),
    executor: createChannelExecutor({ cacheDir, log: silent, sandbox }),
    cacheDir: `${cacheDir}/channels`,
    env,
  };
}
