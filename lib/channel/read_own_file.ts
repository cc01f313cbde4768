/**
 * Files that a channel has put into its own folder. What the channel says of a path is believed in
 * nothing: the path is resolved, and what was opened is compared with what was looked at.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import { isInside } from "../base/state_dir.ts";

/** A file that somebody names. */
export interface OwnFile {
  path: string;
  /** The channel's folder. */
  folder: string;
  maxBytes: number;
  /** The field that names it, for errors. */
  param: string;
}

/**
 * The bytes of a regular file in the folder. Throws `invalid_request` for what is none, is elsewhere,
 * or cannot be read, and `too_large`.
 */
export async function readOwnFile(
  { path, folder, maxBytes, param }: OwnFile,
): Promise<Uint8Array<ArrayBuffer>> {
  const refuse = (what: string) =>
    new ServiceError(
      "invalid_request",
      `Cannot read ${param} (${JSON.stringify(path.slice(0, 300))}): ${what}`,
      { param },
    );
  try {
    if (!isInside(folder, path)) throw refuse(`expected a path in ${folder}`);
    const [realFolder, realPath] = await Promise.all([Deno.realPath(folder), Deno.realPath(path)]);
    if (!isInside(realFolder, realPath)) throw refuse("it leads out of the channel's folder");
    // Before it is opened: opening a pipe would wait for whoever writes to it.
    const seen = await Deno.lstat(realPath);
    if (!seen.isFile) throw refuse("it is no regular file");
    using file = await Deno.open(realPath, { read: true });
    const { isFile, dev, ino, size } = await file.stat();
    if (!isFile || dev !== seen.dev || ino !== seen.ino) throw refuse("it was replaced");
    if (size > maxBytes) throw tooLarge(param, size, maxBytes);
    return await readAll(file, { size, maxBytes, param });
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    // The words of the system name paths that are the service's own.
    throw refuse(
      error instanceof Deno.errors.NotFound ? "there is no such file" : "it is unreadable",
    );
  }
}

/** To its end, which may not be where it was. */
async function readAll(
  file: Deno.FsFile,
  { size, maxBytes, param }: { size: number; maxBytes: number; param: string },
): Promise<Uint8Array<ArrayBuffer>> {
  let bytes = new Uint8Array(Math.min(size, maxBytes) + 1);
  let length = 0;
  for (;;) {
    const read = await file.read(bytes.subarray(length));
    if (read === null) return bytes.slice(0, length);
    length += read;
    if (length > maxBytes) throw tooLarge(param, length, maxBytes);
    if (length === bytes.length) {
      const more = new Uint8Array(Math.min(bytes.length * 2, maxBytes + 1));
      more.set(bytes);
      bytes = more;
    }
  }
}

function tooLarge(param: string, bytes: number, maxBytes: number): ServiceError {
  return new ServiceError(
    "too_large",
    `${param} has ${bytes} bytes or more: at most ${maxBytes} are taken`,
    { param },
  );
}
