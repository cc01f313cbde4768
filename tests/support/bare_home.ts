/**
 * A home on a machine that has the packages of the main job and no others, and reaches no registry.
 *
 * @module
 */

import { lockedClosure } from "../../lib/packages/locked_closure.ts";
import { MAIN_JOB } from "../../lib/packages/wanted_packages.ts";
import { denoDirectory } from "./deno_directory.ts";
import { makeHome, ROOT, type TestHome } from "./home.ts";
import { freePort } from "./free_port.ts";

const LOCK = JSON.parse(await Deno.readTextFile(new URL("../../deno.lock", import.meta.url)));

/** What a first start fetches, such as `zod@4.6.7`. */
export const MAIN_JOB_PACKAGES: readonly string[] = lockedClosure(MAIN_JOB, LOCK);

/** Such a home, and the environment that makes it one. `without`: packages that it lacks, too. */
export async function bareHome(
  config?: unknown,
  without: readonly string[] = [],
): Promise<{ home: TestHome; env: Record<string, string> }> {
  const home = await makeHome(config, ROOT);
  const denoDir = `${home.dir}/deno`;
  await denoDirectory(denoDir, MAIN_JOB_PACKAGES.filter((id) => !without.includes(id)));
  const proxy = `http://127.0.0.1:${freePort()}/`;
  return { home, env: { DENO_DIR: denoDir, HTTP_PROXY: proxy, HTTPS_PROXY: proxy } };
}
