/**
 * The path at which WebSockets are opened, in its one spelling.
 *
 * @module
 */

/** A path without the slashes at its end; the root stays `/`. */
export function upgradePath(path: string): string {
  return path.replace(/\/+$/, "") || "/";
}
