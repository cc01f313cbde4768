/**
 * The name of this machine, which packages ask for while they are imported, for lines of a log say. A
 * place may not know it, and a package that is refused it cannot be loaded: it is told one that fits every
 * machine. Whatever else a place may not know stays refused, as packages have a way for that.
 *
 * @module
 */

import os from "node:os";

/** Puts it in the place of the real one, for CommonJS packages and default imports. */
export function setNeutralFacts(): void {
  Object.assign(os, { hostname: () => "localhost" });
}
