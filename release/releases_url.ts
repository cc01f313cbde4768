/**
 * Where the project's releases are. The one place to set it: the README, the install script, the Homebrew
 * formula, the pages of docs and `service upgrade` take it from here (`deno task generate`).
 *
 * @module
 */

import { defaultSource } from "../cli/upgrade/release_source.ts";
import type { ReleaseInfo } from "../cli/upgrade/release_info.ts";
import { VERSION } from "../cli/version.ts";
import type { SigningKey } from "./signing_key.ts";

/**
 * Such as `https://github.com/OWNER/REPOSITORY/releases`, without a slash at its end. Below it stand
 * `latest/download/FILE`, `download/vVERSION/FILE` and `download/preview/FILE`, as GitHub has them.
 */
export const RELEASES_URL = "https://releases.example/service";

/** Whether somebody has set it: nobody can have a name below `example` (RFC 2606). */
export function isReleasesUrlSet(url = RELEASES_URL): boolean {
  return !new URL(url).hostname.endsWith(".example");
}

/** URL of the newest release of this version's channel. */
export const LATEST_URL = defaultSource(RELEASES_URL, VERSION);

/** URL of this version's release. */
export const VERSION_URL = `${RELEASES_URL}/download/v${VERSION}`;

/** The container image that the workflow publishes, for releases on GitHub. */
export function imageName(url = RELEASES_URL): string {
  const [, repository] = /^https:\/\/github\.com\/([^/]+\/[^/]+)\/releases$/.exec(url) ?? [];
  return `ghcr.io/${repository?.toLowerCase() ?? "OWNER/REPOSITORY"}`;
}

/** What programs of this version know of releases. */
export function releaseInfo(key: SigningKey | undefined): ReleaseInfo {
  return {
    releasesUrl: isReleasesUrlSet() ? RELEASES_URL : undefined,
    publicKey: key?.publicKey,
  };
}
