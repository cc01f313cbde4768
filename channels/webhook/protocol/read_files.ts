/**
 * Files of a message that goes out.
 *
 * @module
 */

import { basename } from "@std/path";
import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";

/** Bytes of the files of one message that goes out. */
const MAX_MEDIA_BYTES = 16 * 1024 * 1024;

/** Files as they stand in an event. Rejects with PermanentDeliveryError for what cannot be sent. */
export async function readFiles(
  paths: readonly string[],
): Promise<{ name: string; data_url: string }[]> {
  const files = [];
  let left = MAX_MEDIA_BYTES;
  for (const path of paths) {
    const name = basename(path);
    const { size } = await Deno.stat(path).catch(() => {
      throw new PermanentDeliveryError(`The file ${name} cannot be read`);
    });
    left -= size;
    if (left < 0) {
      throw new PermanentDeliveryError(
        `The files of a message are too large: at most ${MAX_MEDIA_BYTES} bytes together`,
      );
    }
    const bytes = await Deno.readFile(path);
    files.push({ name, data_url: `data:application/octet-stream;base64,${bytes.toBase64()}` });
  }
  return files;
}
