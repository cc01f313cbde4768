/**
 * Compares what was shown with a secret.
 *
 * @module
 */

import { createHash, timingSafeEqual } from "node:crypto";

/** Whether a text is the secret. How long it takes tells nothing of either, lengths included. */
export function sameSecret(shown: string, secret: string): boolean {
  return timingSafeEqual(digest(shown), digest(secret));
}

function digest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
