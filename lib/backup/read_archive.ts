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
  type Manifest,
  MANIFEST_ENTRY,
  parseHead,
  parseManifest,
  WORKSPACE_ENTRY,
} from "./manifest.ts";
import { type Bytes, readTar, type TarEntry, TarError } from "./tar.ts";

/** An archive in which every byte is as the manifest says. */
export interface CheckedArchive extends BackupHead {
  files: Manifest["files"];
  /** Bytes of all files. */
  bytes: number;
}

/** A file or folder of an archive. `path` can't lead out of the folder that it's unpacked in. */
export type ArchiveEntry = TarEntry;

/** How an archive is read. */
export interface ReadOptions {
  signal?: AbortSignal;
  onProgress?: (progress: { bytes: number; files: number }) => void;
}

/** Bytes of the first entry, of the last one, and of a path. */
const MAX_HEAD_BYTES = 64 * 1024;
const MAX_MANIFEST_BYTES = 512 * 1024 * 1024;
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

/** Reads everything, and holds it against the manifest. Throws `invalid_request` with what is wrong. */
export async function checkArchive(
  file: Deno.FsFile,
  { signal, onProgress }: ReadOptions = {},
): Promise<CheckedArchive> {
  const found: Manifest["files"] = [];
  let bytes = 0;
  const { head, manifest } = await readArchive(file, async (entry) => {
    const hash = createHash("sha256");
    for await (const chunk of entry.bytes) {
      hash.update(chunk);
      bytes += chunk.length;
      onProgress?.({ bytes, files: found.length });
    }
    const path = entry.isFolder ? `${entry.path}/` : entry.path;
    found.push({ path, size: entry.size, sha256: hash.digest("hex") });
  }, signal);
  refuseDifference(manifest.files, found);
  return { ...head, files: found, bytes };
}

/** Reads an archive that was checked, and hands out its files. Throws as {@linkcode checkArchive}. */
export async function readArchive(
  file: Deno.FsFile,
  take: (entry: ArchiveEntry) => Promise<void>,
  signal?: AbortSignal,
): Promise<{ head: BackupHead; manifest: Manifest }> {
  await file.seek(0, Deno.SeekMode.Start);
  try {
    return await readEntries(unzipped(file, signal), take);
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
) {
  let head: BackupHead | undefined;
  let manifest: Manifest | undefined;
  const paths = new Paths();
  for await (const entry of readTar(content)) {
    if (manifest !== undefined) throw badBackup(`"${entry.path}" follows its manifest`);
    if (head === undefined) {
      if (entry.path !== HEAD_ENTRY) throw notOurs();
      head = parseHead(await textOf(entry, MAX_HEAD_BYTES));
    } else if (entry.path === MANIFEST_ENTRY) {
      manifest = parseManifest(await textOf(entry, MAX_MANIFEST_BYTES));
    } else {
      paths.add(entry);
      await take(entry);
    }
  }
  if (head === undefined || manifest === undefined) throw badBackup("its manifest is missing");
  const { files: _, ...said } = manifest;
  if (JSON.stringify(said) !== JSON.stringify(head)) {
    throw badBackup(`"${HEAD_ENTRY}" and "${MANIFEST_ENTRY}" contradict each other`);
  }
  return { head, manifest };
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

/** The paths of an archive: below its folders, each once, and no file where another one has a folder. */
class Paths {
  readonly #files = new Set<string>();
  readonly #folders = new Set<string>();

  add({ path, isFolder }: ArchiveEntry): void {
    const reason = faultOf(path);
    if (reason !== undefined) throw badBackup(`the path ${JSON.stringify(path)} ${reason}`);
    const twice = this.#files.has(path) || !isFolder && this.#folders.has(path);
    if (twice) throw badBackup(`"${path}" is there twice`);
    for (let above = path; (above = above.slice(0, above.lastIndexOf("/"))).includes("/");) {
      if (this.#files.has(above)) throw badBackup(`"${above}" is there twice`);
      if (this.#folders.has(above)) break;
      this.#folders.add(above);
    }
    (isFolder ? this.#folders : this.#files).add(path);
  }
}

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

function refuseDifference(said: Manifest["files"], found: Manifest["files"]): void {
  for (const [index, file] of found.entries()) {
    const { path, size, sha256 } = said[index] ?? {};
    if (path !== file.path) throw badBackup(`"${file.path}" isn't in its manifest`);
    if (size !== file.size || sha256 !== file.sha256) {
      throw badBackup(`"${path}" isn't what its manifest says`);
    }
  }
  const missing = said[found.length];
  if (missing !== undefined) throw badBackup(`"${missing.path}" is missing`);
}
