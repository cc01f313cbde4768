/**
 * Bounds a log file that a process was started with as its standard error. The file is copied aside and
 * emptied, not renamed: what else writes to standard error, such as a crash, goes on in the same file.
 *
 * @module
 */

/** Bytes of the file, after which it is copied aside. */
const MAX_BYTES = 10 * 1024 * 1024;

/** Files that are kept beside it: `service.log.1` is the newest. */
export const KEPT_FILES = 4;

/** How much more is written before a rotation that failed is tried again, part of the bound. */
const RETRY_PART = 0.1;

/** What {@linkcode rotatedLog} takes. */
export interface RotatedLogOptions {
  path: string;
  /** Appends to the file. */
  stream: { write(bytes: Uint8Array): Promise<number> };
  /** Default: 10 MiB. */
  maxBytes?: number;
}

/** The stream, with the file behind it bounded. */
export function rotatedLog(
  { path, stream, maxBytes = MAX_BYTES }: RotatedLogOptions,
): RotatedLogOptions["stream"] {
  let size: number | undefined;
  let limit = maxBytes;
  return {
    async write(bytes) {
      size ??= await Deno.stat(path).then((info) => info.size, () => 0);
      if (size > 0 && size + bytes.length > limit) {
        try {
          await setAside(path);
          [size, limit] = [0, maxBytes];
        } catch {
          // A full disk, say. A file of twice the bound is emptied without a copy.
          limit = size + maxBytes * RETRY_PART;
          if (limit > 2 * maxBytes) {
            await Deno.truncate(path).catch(() => {});
            [size, limit] = [0, maxBytes];
          }
        }
      }
      const written = await stream.write(bytes);
      size += written;
      return written;
    },
  };
}

async function setAside(path: string): Promise<void> {
  for (let number = KEPT_FILES; number > 1; number--) {
    await Deno.rename(`${path}.${number - 1}`, `${path}.${number}`).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
  }
  // A copy has the mode of what it is a copy of.
  await Deno.copyFile(path, `${path}.1`);
  await Deno.truncate(path);
}
