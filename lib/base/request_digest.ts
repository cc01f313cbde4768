/**
 * What makes two requests the same one: a digest over all that they say.
 *
 * @module
 */

import { createHash, type Hash } from "node:crypto";

/** SHA-256 of plain JSON with its keys in order, hex. Fields that are undefined count as absent. */
export function requestDigest(value: unknown): string {
  const hash = createHash("sha256");
  addJson(hash, value);
  return hash.digest("hex");
}

/** SHA-256 of a file, hex. */
export function fileDigest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/**
 * Adds a value as JSON with its keys in order. Piece by piece: the whole text of a long history would
 * be another copy of it.
 */
function addJson(hash: Hash, value: unknown): void {
  if (typeof value !== "object" || value === null) {
    hash.update(JSON.stringify(value) ?? "null");
  } else if (Array.isArray(value)) {
    hash.update("[");
    for (const item of value) {
      addJson(hash, item);
      hash.update(",");
    }
    hash.update("]");
  } else {
    hash.update("{");
    for (const key of Object.keys(value).sort()) {
      const item = (value as Record<string, unknown>)[key];
      if (item === undefined) continue;
      hash.update(`${JSON.stringify(key)}:`);
      addJson(hash, item);
      hash.update(",");
    }
    hash.update("}");
  }
}
