/** A version as Semantic Versioning has it. */
export interface SemVer {
  major: number;
  minor: number;
  patch: number;
  prerelease?: (string | number)[];
  build?: string[];
}
/** Reads a version. Throws TypeError for anything else. */
export declare function parse(value: string): SemVer;
/** -1 for an older version than the second, 0 for the same precedence, 1 for a newer one. */
export declare function compare(version1: SemVer, version2: SemVer): -1 | 0 | 1;
