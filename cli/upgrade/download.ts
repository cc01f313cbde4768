/**
 * Downloads a file and checks it on the way.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { dirname } from "@std/path";
import { ServiceError } from "../../lib/base/errors.ts";
import { formatSize } from "../format_size.ts";
import { reasonOf } from "./program_files.ts";
import type { ReleaseSource } from "./release_source.ts";

/** Longer than any program will be. */
const MAX_BYTES = 1_000_000_000;

/** What is downloaded, and where to. */
export interface DownloadOptions {
  name: string;
  sha256: string;
  path: string;
  signal: AbortSignal;
  /** `total`: undefined where it isn't known. */
  onProgress(bytes: number, total: number | undefined): void;
}

/** Downloads it. Throws one sentence for what may go wrong; what was written so far stays. */
export async function download(
  source: ReleaseSource,
  { name, sha256, path, signal, onProgress }: DownloadOptions,
): Promise<void> {
  const { stream, size } = await source.open(name, signal);
  using file = await Deno.open(path, { write: true, truncate: true });
  const hash = createHash("sha256");
  let bytes = 0;
  const reader = stream.getReader();
  while (true) {
    const { value, done } = await reader.read().catch((error) => {
      signal.throwIfAborted();
      if (error instanceof ServiceError) throw error;
      throw cutOff(name, bytes, size);
    });
    if (done) break;
    bytes += value.length;
    if (bytes > MAX_BYTES) throw tampered(name);
    hash.update(value);
    await writeAll(file, value).catch((error) => {
      throw new ServiceError(
        "storage_full",
        `Can't write the new version to ${dirname(path)}: ${reasonOf(error)}. ` +
          `It needs ${formatSize(size ?? bytes)} there. Nothing was changed`,
      );
    });
    onProgress(bytes, size);
  }
  if (size !== undefined && bytes < size) throw cutOff(name, bytes, size);
  if (hash.digest("hex") !== sha256) throw tampered(name);
  await file.sync();
}

async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
}

function cutOff(name: string, bytes: number, size: number | undefined): ServiceError {
  const of = size === undefined ? "" : ` of ${formatSize(size)}`;
  return new ServiceError(
    "not_found",
    `The download of ${name} was cut off after ${formatSize(bytes)}${of}. Nothing was changed`,
  );
}

function tampered(name: string): ServiceError {
  return new ServiceError(
    "invalid_request",
    `The checksum of ${name} is wrong: the file is damaged, or somebody changed it. ` +
      "Nothing was changed here",
  );
}
