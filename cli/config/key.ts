/**
 * A key as it is typed on a command line.
 *
 * @module
 */

import { unknownKey } from "../../lib/config/canonicalize.ts";
import { formatPath, type KeyPath, parsePath } from "../../lib/base/key_path.ts";
import { configSchema } from "../../lib/config/schema.ts";
import { canonicalPath, isForeign, keysOf, nodeAt } from "../../lib/config/schema_tree.ts";
import { ServiceError } from "../../lib/base/errors.ts";

/** The path in the schema's spelling. Throws `usage` for what is no path. */
export function parseKey(typed: string): KeyPath {
  const path = parsePath(typed);
  if (path === undefined) {
    throw new ServiceError("usage", `${JSON.stringify(typed)} is no key; one is agent.maxSteps`, {
      param: typed,
    });
  }
  return canonicalPath(configSchema, path);
}

/**
 * Throws `usage`, naming the nearest known key, for a key that the schema does not name and that does
 * not belong to a section that somebody else checks. `value` is what stands there, or is to.
 */
export function requireKnown(path: KeyPath, value: unknown): void {
  for (let length = 1; length <= path.length; length++) {
    const here = path.slice(0, length);
    if (nodeAt(configSchema, here) !== undefined) continue;
    const around = nodeAt(configSchema, here.slice(0, -1))!;
    if (isForeign(around, length < path.length ? {} : value)) return;
    const message = `${formatPath(here)} ${unknownKey(here, keysOf(around) ?? [])}`;
    throw new ServiceError("usage", message, { param: formatPath(path) });
  }
}
