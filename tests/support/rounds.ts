/**
 * How often a test tries something: `deno task test` takes a share of the rounds, so that it ends in
 * minutes, and `deno task test:full` takes all of them.
 *
 * @module
 */

import { needs } from "./needs.ts";

const IS_FULL = Deno.env.get("SERVICE_TEST_FULL") === "1";

/** What a test needs that takes too long for the short run and means nothing with fewer rounds. */
export const FULL_RUN = { what: "the full run", isThere: IS_FULL };

/** What a test needs in its form without a sandbox, where there is one to run it in as well. */
export const NO_SANDBOX = {
  what: FULL_RUN.what,
  get isThere() {
    return IS_FULL || needs("", "bubblewrap").ignore;
  },
};

/**
 * Rounds of this run. `short` is for what has a least size at which it still means something; without
 * it the short run takes a twentieth, but no fewer than five where there are so many.
 */
export function rounds(full: number, short?: number): number {
  return IS_FULL ? full : short ?? Math.min(full, Math.max(5, Math.ceil(full / 20)));
}
