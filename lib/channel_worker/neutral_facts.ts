/**
 * The name of this machine and the release of its system, which packages ask for while they are imported,
 * for lines of a log or the name that they give themselves. A worker may not know them, and a package that
 * is refused them cannot be loaded: it is told what fits every machine. Whatever else a worker may not
 * know stays refused, as packages have a way for that.
 *
 * @module
 */

import os from "node:os";

/** Puts it in the place of the real one, for CommonJS packages and default imports. */
export function setNeutralFacts(): void {
  Object.assign(os, { hostname: () => "localhost", release: () => "0" });
}
