/**
 * By what a grant that was proposed for an automation knows that it has not changed since.
 *
 * @module
 */

import { canonicalJson } from "../base/canonical_json.ts";
import { sha256Hex } from "../base/sha256.ts";
import type { Automation } from "../contract/automation.ts";

/**
 * SHA-256, hex, of everything that decides what runs of it do and where their answers go. Switching
 * it on or off is no change: a grant is made before an automation is switched on.
 */
export function automationDigest({ enabled: _, ...spec }: Automation): string {
  return sha256Hex(canonicalJson(["automation/1", spec]));
}
