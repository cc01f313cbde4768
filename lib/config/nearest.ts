/**
 * The known key that was probably meant.
 *
 * @module
 */

import { nearest } from "../base/nearest.ts";

/** As {@linkcode nearest}; case, underscores and dashes do not count. */
export function nearestKey(typed: string, candidates: readonly string[]): string | undefined {
  return nearest(typed, candidates, (key) => key.replaceAll(/[_-]/g, "").toLowerCase());
}
