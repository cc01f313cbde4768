/**
 * What changed between two versions, from the changelog of a release.
 *
 * @module
 */

import { compare, parse } from "@std/semver";

/** The file of a release that says it. */
export const CHANGELOG = "CHANGELOG.md";

/** Lines of a changelog that are newer than one version and not newer than another. */
export function changesBetween(changelog: string, from: string, to: string): string[] {
  const sections = changelog.split(/^(?=## )/m).filter((section) => {
    const [, version] = /^## \[?(\d+\.\d+\.\d+[0-9A-Za-z.+-]*)/.exec(section) ?? [];
    return version !== undefined && isNewer(version, from) && !isNewer(version, to);
  });
  return sections.flatMap((section) => section.trimEnd().split("\n"));
}

/** Whether a version is newer than another one. */
export function isNewer(version: string, than: string): boolean {
  return compare(parse(version), parse(than)) > 0;
}
