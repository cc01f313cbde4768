/**
 * What a released program knows of releases: `release/build.ts` puts it beside the program.
 *
 * @module
 */

import { ROOT } from "../../lib/base/layout.ts";

/** The file, in the folder of the program. */
export const RELEASE_INFO_FILE = "release.json";

/** What stands in it. */
export interface ReleaseInfo {
  /** URL of the releases, without a slash at its end; absent for a build that is nobody's release. */
  releasesUrl?: string;
  /** Ed25519, as a SubjectPublicKeyInfo in base64; absent for a build that wasn't signed. */
  publicKey?: string;
}

/** That of this program; empty for one that has none. */
export async function readReleaseInfo(): Promise<ReleaseInfo> {
  try {
    return JSON.parse(await Deno.readTextFile(new URL(RELEASE_INFO_FILE, ROOT)));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return {};
    throw error;
  }
}
