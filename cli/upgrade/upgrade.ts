/**
 * Replaces this program by a newer release, and goes back.
 *
 * Nothing of the installation changes before the new file is whole, verified, and has started once. Then it
 * takes the program's place at one moment.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { CHANGELOG, changesBetween, isNewer } from "./changes.ts";
import {
  CHECKSUMS,
  findProgramFile,
  parseChecksums,
  type Platform,
  type ProgramFile,
  programFileName,
  SIGNATURE,
  verifySignature,
  versionOf,
} from "./checksums.ts";
import { download } from "./download.ts";
import { goBack, programFiles, takeOver, withNext } from "./program_files.ts";
import { readSmall, type ReleaseSource } from "./release_source.ts";
import { type ProgramFacts, tryProgram } from "./try_program.ts";

/** A list of checksums, or a changelog, isn't longer. */
const MAX_BYTES = 4_000_000;

/** What {@linkcode findRelease} depends on. */
export interface FindOptions {
  /** Version of this program. */
  version: string;
  platform: Platform;
  /** See `ReleaseInfo`. */
  publicKey?: string;
  signal: AbortSignal;
}

/** A release for this machine. */
export interface Release {
  file: ProgramFile;
  /** Lines of the changelog since this program's version. */
  changes: string[];
  /** Whether the key of this program has signed it. */
  isSigned: boolean;
}

/** Reads what a release holds for this machine, and verifies whose it is. */
export async function findRelease(
  source: ReleaseSource,
  { version, platform, publicKey, signal }: FindOptions,
): Promise<Release> {
  if (publicKey === undefined && !source.isLocal) {
    throw new ServiceError(
      "usage",
      "This program has no key to verify a download with. Download the release yourself, and pass " +
        "it with: service upgrade --from FILE",
      { param: "from" },
    );
  }
  const read = (name: string) => readSmall(source, name, { maxBytes: MAX_BYTES, signal });
  const list = await read(CHECKSUMS);
  if (publicKey !== undefined) await verifySignature(list, await read(SIGNATURE), publicKey);
  const sums = parseChecksums(new TextDecoder().decode(list));
  const file = chosenFile(source, sums, platform);
  return {
    file,
    changes: await readChanges(read, sums, { from: version, to: file.version }),
    isSigned: publicKey !== undefined,
  };
}

/** The file that was named, or the one of this platform. */
function chosenFile(
  { fileName, place }: ReleaseSource,
  sums: ReadonlyMap<string, string>,
  platform: Platform,
): ProgramFile {
  if (fileName === undefined || fileName === CHECKSUMS) return findProgramFile(sums, platform);
  const sha256 = sums.get(fileName);
  if (sha256 === undefined) {
    throw new ServiceError("not_found", `${CHECKSUMS} in ${place} doesn't list ${fileName}`);
  }
  const version = versionOf(fileName, platform);
  if (version !== undefined) return { name: fileName, sha256, version };
  throw new ServiceError(
    "usage",
    `${fileName} isn't for this machine: expected ${programFileName("VERSION", platform)}`,
    { param: "from" },
  );
}

async function readChanges(
  read: (name: string) => Promise<Uint8Array<ArrayBuffer>>,
  sums: ReadonlyMap<string, string>,
  { from, to }: { from: string; to: string },
): Promise<string[]> {
  const expected = sums.get(CHANGELOG);
  if (expected === undefined || !isNewer(to, from)) return [];
  const bytes = await read(CHANGELOG);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
  // It is only shown; the program has a checksum of its own.
  return digest === expected ? changesBetween(new TextDecoder().decode(bytes), from, to) : [];
}

/** How {@linkcode installRelease} works. */
export interface InstallOptions {
  /** Path of the program. */
  program: string;
  signal: AbortSignal;
  onProgress(bytes: number, total: number | undefined): void;
  /** Called with what the new program is, before it takes the place; throwing changes nothing. */
  beforeReplace(next: ProgramFacts): Promise<void>;
}

/** Downloads a release and puts it in the place of the program, which stays as the previous one. */
export async function installRelease(
  source: ReleaseSource,
  { file }: Release,
  { program, signal, onProgress, beforeReplace }: InstallOptions,
): Promise<void> {
  const files = programFiles(program);
  await withNext(files, async () => {
    const { name, sha256, version } = file;
    await download(source, { name, sha256, path: files.next, signal, onProgress });
    if (Deno.build.os !== "windows") await Deno.chmod(files.next, 0o755);
    await beforeReplace(await tryProgram(files.next, version));
    signal.throwIfAborted();
    await takeOver(files);
  });
}

/** Puts the previous version in the place of the program. What it is; throws `not_found` without one. */
export async function goBackToPrevious(program: string): Promise<ProgramFacts> {
  const files = programFiles(program);
  const there = await Deno.stat(files.previous).catch(() => undefined);
  if (there === undefined) {
    throw new ServiceError("not_found", `There is no previous version beside ${program}`);
  }
  return await withNext(files, async () => {
    const facts = await tryProgram(files.previous);
    await goBack(files);
    return facts;
  });
}
