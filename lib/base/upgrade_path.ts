/**
 * The path at which WebSockets are opened, in its one spelling (document 2 part 2: trailing slashes are
 * normalized, the root `/` is kept).
 *
 * @module
 */

/** A path without the slashes at its end; the root stays `/`. */
export function upgradePath(path: string): string {
  return path.replace(/\/+$/, "") || "/";
}
