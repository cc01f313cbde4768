import { ServiceError } from "../base/errors.ts";
import type { Bytes } from "./tar.ts";

/** Bytes of a piece. */
export const CHUNK_BYTES = 256 * 1024;

/** Exactly `size` bytes, whatever becomes of the file. */
export async function* chunksOf(
  file: Deno.FsFile,
  size: number,
  name: string,
): AsyncGenerator<Bytes> {
  for (let missing = size; missing > 0;) {
    const chunk = new Uint8Array(Math.min(CHUNK_BYTES, missing));
    const read = await file.read(chunk);
    if (read === null) {
      throw new ServiceError("conflict", `"${name}" became shorter while it was copied`);
    }
    missing -= read;
    yield chunk.subarray(0, read);
  }
}
