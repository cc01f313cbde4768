/**
 * Reads the text of a configuration file.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";

/** Longest configuration, bytes. */
const MAX_CONFIG_BYTES = 1_000_000;

/**
 * The text of a file, or undefined if there is none. Throws `config_invalid` for a file that cannot
 * be read, is too long, or is no UTF-8.
 */
export async function readConfigText(path: string): Promise<string | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await readBounded(path);
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) return undefined;
    throw cannotRead(path, (cause as Error).message, cause);
  }
  if (bytes.length > MAX_CONFIG_BYTES) {
    throw cannotRead(path, `it has more than ${MAX_CONFIG_BYTES} bytes`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw cannotRead(path, "it is no UTF-8 text", cause);
  }
}

/** At most one byte more than is allowed, also of a pipe that never ends. */
async function readBounded(path: string): Promise<Uint8Array> {
  const file = await Deno.open(path);
  try {
    const buffer = new Uint8Array(MAX_CONFIG_BYTES + 1);
    let length = 0;
    while (length < buffer.length) {
      const read = await file.read(buffer.subarray(length));
      if (read === null) break;
      length += read;
    }
    return buffer.subarray(0, length);
  } finally {
    file.close();
  }
}

function cannotRead(path: string, reason: string, cause?: unknown): ServiceError {
  return new ServiceError("config_invalid", `Cannot read ${path}: ${reason}`, {}, { cause });
}
