/**
 * The files of a release: their names, and the signed list of their checksums.
 *
 * A release is a folder with the files to download, `SHA256SUMS` as sha256sum(1) writes it, and
 * `SHA256SUMS.sig`, the Ed25519 signature of that file, 64 bytes.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";

/** The list. */
export const CHECKSUMS = "SHA256SUMS";

/** Its signature. */
export const SIGNATURE = "SHA256SUMS.sig";

/** What a file is made for. */
export interface Platform {
  os: typeof Deno.build.os;
  arch: typeof Deno.build.arch;
  /** Whether the program is one that `deno compile` made. */
  isCompiled: boolean;
}

/** A file of a program, as the list names it. */
export interface ProgramFile {
  name: string;
  version: string;
  /** In lower-case hexadecimals. */
  sha256: string;
}

/** As names of files have it, such as `linux-x64`. */
export function platformName({ os, arch, isCompiled }: Platform): string {
  const system = os === "darwin" ? "macos" : os;
  return `${system}-${arch === "x86_64" ? "x64" : "arm64"}${isCompiled ? "-compiled" : ""}`;
}

/** Checksums by the names of files. Throws `invalid_request` for a text that is no such list. */
export function parseChecksums(text: string): Map<string, string> {
  const lines = text.split("\n").filter((line) => line !== "");
  const sums = lines.map((line) => /^([0-9a-f]{64}) [ *]([^/\s]+)$/.exec(line));
  if (lines.length > 0 && sums.every((match) => match !== null)) {
    return new Map(sums.map((match) => [match![2]!, match![1]!]));
  }
  throw new ServiceError("invalid_request", `${CHECKSUMS} isn't a list of checksums`);
}

/** The version in the name of a program's file, and for what platform it is; undefined for other names. */
export function parseFileName(name: string): { version: string; platform: string } | undefined {
  const [, version, platform] =
    /^service-(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+?)?)-((?:linux|macos|windows)-(?:x64|arm64)(?:-compiled)?)(?:\.exe|\.cmd)?$/
      .exec(name) ?? [];
  return version === undefined ? undefined : { version, platform: platform! };
}

/** The program for a platform. Throws `not_found`, naming the platform. */
export function findProgramFile(sums: ReadonlyMap<string, string>, wanted: Platform): ProgramFile {
  const platform = platformName(wanted);
  for (const [name, sha256] of sums) {
    const parsed = parseFileName(name);
    if (parsed?.platform === platform) return { name, sha256, version: parsed.version };
  }
  throw new ServiceError("not_found", `That release has no file for ${platform}`);
}

/** Throws `invalid_request` where the list isn't signed with the key. */
export async function verifySignature(
  list: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
  publicKey: string,
): Promise<void> {
  const algorithm = { name: "Ed25519" };
  const spki = Uint8Array.fromBase64(publicKey);
  const key = await crypto.subtle.importKey("spki", spki, algorithm, false, ["verify"]);
  if (await crypto.subtle.verify(algorithm, key, signature, list)) return;
  throw new ServiceError(
    "invalid_request",
    `The signature of ${CHECKSUMS} is wrong: that release isn't from those who made this program`,
  );
}
