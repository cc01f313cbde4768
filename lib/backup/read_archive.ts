/**
 * Reads an archive, and takes nothing from it on trust.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { ServiceError } from "../base/errors.ts";
import {
  type BackupHead,
  badBackup,
  HEAD_ENTRY,
  HOME_ENTRY,
  MANIFEST_ENTRY,
  ManifestText,
  parseHead,
  WORKSPACE_ENTRY,
} from "./manifest.ts";
import { type Bytes, readTar, type TarEntry, TarError } from "./tar.ts";

/** An archive in which every byte is as the manifest says. */
export interface CheckedArchive extends BackupHead {
  files: number;
  /** Bytes of all files. */
  bytes: number;
  /** Whether it holds a workspace. */
  hasWorkspace: boolean;
}

/** A file or folder of an archive. `path` can't lead out of the folder that it's unpacked in. */
export type ArchiveEntry = TarEntry;

/** How an archive is read. */
export interface ReadOptions {
  signal?: AbortSignal;
  onProgress?: (progress: { bytes: number; files: number }) => void;
}

/** Bytes of the first entry, and of a path. */
const MAX_HEAD_BYTES = 64 * 1024;
const MAX_PATH_BYTES = 4_096;

/** Opens an archive's file; throws `not_found` and `invalid_request`. */
export async function openArchive(path: string): Promise<Deno.FsFile> {
  const info = await Deno.stat(path).catch((cause) => {
    if (!(cause instanceof Deno.errors.NotFound)) throw cause;
    throw new ServiceError("not_found", `There is no backup "${path}"`, {}, { cause });
  });
  if (!info.isFile) throw badBackup(`"${path}" isn't a file`);
  return await Deno.open(path);
}

/** What an archive says of itself, without looking at the rest of it. Throws `invalid_request`. */
export async function readHead(path: string): Promise<BackupHead> {
  using file = await openArchive(path);
  for await (const entry of readTar(unzipped(file))) {
    if (entry.path === HEAD_ENTRY) return parseHead(await textOf(entry, MAX_HEAD_BYTES));
    break;
  }
  throw notOurs();
}

/**
 * Reads everything, hands out the files, and holds them against the manifest. Memory doesn't grow with their
 * number. Throws `invalid_request` with what is wrong.
 */
export async function readArchive(
  file: Deno.FsFile,
  { signal, onProgress }: ReadOptions = {},
  take: (entry: ArchiveEntry) => Promise<void> = async () => {},
): Promise<CheckedArchive> {
  await file.seek(0, Deno.SeekMode.Start);
  try {
    return await readEntries(unzipped(file, signal), take, onProgress);
  } catch (cause) {
    if (cause instanceof TarError) throw badBackup(cause.message, { cause });
    // What the decompression says of bytes that are cut off or changed.
    if (cause instanceof TypeError) {
      throw badBackup("it is cut off, changed, or not a backup", { cause });
    }
    throw cause;
  }
}

async function readEntries(
  content: ReadableStream<Uint8Array>,
  take: (entry: ArchiveEntry) => Promise<void>,
  onProgress: ReadOptions["onProgress"],
): Promise<CheckedArchive> {
  let found: FoundFiles | undefined;
  let isWhole = false;
  for await (const entry of readTar(content)) {
    if (isWhole) throw badBackup(`"${entry.path}" follows its manifest`);
    if (found === undefined) {
      if (entry.path !== HEAD_ENTRY) throw notOurs();
      found = new FoundFiles(parseHead(await textOf(entry, MAX_HEAD_BYTES)));
    } else if (entry.path === MANIFEST_ENTRY) {
      await found.compare(entry.bytes);
      isWhole = true;
    } else {
      const reason = faultOf(entry.path);
      if (reason !== undefined) {
        throw badBackup(`the path ${JSON.stringify(entry.path)} ${reason}`);
      }
      await found.read(entry, take);
      onProgress?.(found.summary);
    }
  }
  if (found === undefined || !isWhole) throw badBackup("its manifest is missing");
  return found.summary;
}

/** The files of an archive, as far as they were read. */
class FoundFiles {
  readonly #head: BackupHead;
  /** The text that the manifest has to be, as a digest. */
  readonly #text = new ManifestText();
  readonly #expected = createHash("sha256");
  #files = 0;
  #bytes = 0;
  #hasWorkspace = false;

  constructor(head: BackupHead) {
    this.#head = head;
    this.#expected.update(this.#text.begin(head));
  }

  get summary(): CheckedArchive {
    const [files, bytes, hasWorkspace] = [this.#files, this.#bytes, this.#hasWorkspace];
    return { ...this.#head, files, bytes, hasWorkspace };
  }

  /** Hands it out, and reads what `take` leaves of it. */
  async read(
    { path, isFolder, size, mode, bytes }: TarEntry,
    take: (entry: ArchiveEntry) => Promise<void>,
  ): Promise<void> {
    const hash = createHash("sha256");
    const count = (chunk: Uint8Array) => {
      hash.update(chunk);
      this.#bytes += chunk.length;
      return chunk;
    };
    const counted = (async function* () {
      for await (const chunk of bytes) yield count(chunk);
    })();
    await take({ path, isFolder, size, mode, bytes: counted });
    for await (const chunk of bytes) count(chunk);
    const name = isFolder ? `${path}/` : path;
    this.#expected.update(this.#text.file({ path: name, size, sha256: hash.digest("hex") }));
    if (!isFolder) this.#files++;
    this.#hasWorkspace ||= path.startsWith(`${WORKSPACE_ENTRY}/`);
  }

  async compare(manifest: AsyncIterable<Uint8Array>): Promise<void> {
    const hash = createHash("sha256");
    for await (const chunk of manifest) hash.update(chunk);
    this.#expected.update(this.#text.end());
    if (hash.digest("hex") === this.#expected.digest("hex")) return;
    throw badBackup(`its files, or its "${HEAD_ENTRY}", aren't what its manifest says`);
  }
}

function notOurs(): ServiceError {
  return badBackup("it wasn't made with: service backup");
}

/** The bytes of the tar, without closing the file in the end. */
function unzipped(file: Deno.FsFile, signal?: AbortSignal): ReadableStream<Uint8Array> {
  const content = new ReadableStream<Bytes>({
    async pull(controller) {
      signal?.throwIfAborted();
      const chunk = new Uint8Array(256 * 1024);
      const read = await file.read(chunk);
      if (read === null) controller.close();
      else controller.enqueue(chunk.subarray(0, read));
    },
  });
  return content.pipeThrough(new DecompressionStream("gzip"));
}

async function textOf({ path, size, bytes }: TarEntry, maxBytes: number): Promise<string> {
  if (size > maxBytes) throw badBackup(`"${path}" has ${size} bytes`);
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of bytes) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

/** Why no backup has such a path. That it is below its folders, and no second one, shows when it is unpacked. */
function faultOf(path: string): string | undefined {
  const parts = path.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) {
    return "isn't a plain relative path";
  }
  if (path.includes("\0") || Deno.build.os === "windows" && /[\\:]/.test(path)) {
    return "isn't one of this system";
  }
  if (new TextEncoder().encode(path).length > MAX_PATH_BYTES) return "is too long";
  const [top, second] = parts;
  const isOurs = (top === HOME_ENTRY || top === WORKSPACE_ENTRY) && second !== undefined;
  // A running service keeps its lock there.
  if (!isOurs || top === HOME_ENTRY && second === "run") return "isn't part of a backup";
}
