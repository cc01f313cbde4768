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

/** Name of the program of a version, as `release/targets.ts` has it. */
export function programFileName(version: string, { os, arch, isCompiled }: Platform): string {
  const system = os === "darwin" ? "macos" : os;
  const ending = os === "windows" ? isCompiled ? ".exe" : ".zip" : isCompiled ? "-compiled" : "";
  return `service-${version}-${system}-${arch === "x86_64" ? "x64" : "arm64"}${ending}`;
}

/** The version in the name of a platform's program; undefined for another name. */
export function versionOf(name: string, platform: Platform): string | undefined {
  const [before, behind] = programFileName("*", platform).split("*") as [string, string];
  if (!name.startsWith(before) || !name.endsWith(behind)) return undefined;
  const version = name.slice(before.length, -behind.length);
  return /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/.test(version) ? version : undefined;
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

/** The program for a platform. Throws `not_found`, naming the platform. */
export function findProgramFile(sums: ReadonlyMap<string, string>, wanted: Platform): ProgramFile {
  for (const [name, sha256] of sums) {
    const version = versionOf(name, wanted);
    if (version !== undefined) return { name, sha256, version };
  }
  const expected = programFileName("VERSION", wanted);
  throw new ServiceError("not_found", `That release has no file for this machine: ${expected}`);
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
