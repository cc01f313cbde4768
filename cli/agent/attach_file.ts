/**
 * Reads a file that goes with a message. What it is, and whether it can be attached, the service
 * finds out.
 *
 * @module
 */

import { MAX_FILE_BYTES } from "../../lib/contract/documents.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import type { AskedPart } from "../../lib/local/protocol.ts";

/** A file that is open for reading. */
export interface ReadableFile {
  readable: ReadableStream<Uint8Array>;
}

/** Opens a file, or throws what Deno.open throws. */
export type OpenFile = (path: string) => Promise<ReadableFile>;

/** A file as a part of what is asked. */
export type AttachedFile = Extract<AskedPart, { type: "file" }>;

/**
 * Reads a file as a part of a message, under the path as it was typed. Throws `not_found`,
 * `invalid_request` (cannot be read, empty) or `too_large`, each naming the path.
 */
export async function attachFile(path: string, open: OpenFile = Deno.open): Promise<AttachedFile> {
  return { type: "file", name: path, data: (await read(path, open)).toBase64() };
}

/** Reads at most the limit and one chunk, so that a device or a growing file ends too. */
async function read(path: string, open: OpenFile): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of (await open(path)).readable) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_FILE_BYTES) {
        throw new ServiceError(
          "too_large",
          `Cannot attach ${quote(path)}: it is larger than ${MAX_FILE_BYTES} bytes`,
          { param: "file" },
        );
      }
    }
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    if (cause instanceof Deno.errors.NotFound) {
      throw new ServiceError("not_found", `There is no file ${quote(path)}`, { param: "file" });
    }
    const why = cause instanceof Deno.errors.NotCapable
      ? "it belongs to the kernel"
      : cause instanceof Error
      ? cause.message
      : String(cause);
    throw new ServiceError("invalid_request", `Cannot read ${quote(path)}: ${why}`, {
      param: "file",
    }, { cause });
  }
  if (size === 0) {
    throw new ServiceError("invalid_request", `The file ${quote(path)} is empty`, {
      param: "file",
    });
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

function quote(path: string): string {
  return JSON.stringify(path);
}
