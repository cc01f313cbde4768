/**
 * Files that came with a message, out of the place where the server keeps them and no other.
 *
 * @module
 */

import {
  bytesOf,
  type PlatformFile,
  UnreadableFileError,
} from "../../../lib/channel/platform/mod.ts";
import { type FileHost, isAtHost, requestFile } from "./http_client.ts";

/** Statuses that say nothing of the file itself. */
const PASSING: readonly number[] = [408, 425, 429];

/** The file at an address; undefined for one that is elsewhere, or encrypted. */
export function fileAt(address: string, host: FileHost | undefined): PlatformFile | undefined {
  const url = URL.parse(address);
  if (!isAtHost(host, url)) return undefined;
  const name = fileName(url);
  const isAudio = /\.(oga|ogg|opus|m4a|mp3|wav|aac|flac|amr)$/i.test(name);
  return { name, isAudio, ref: address };
}

/** Fetches it, and learns whether it is a recording. As `PlatformDriver.fetchFile`. */
export async function fetchFile(
  file: PlatformFile,
  host: FileHost | undefined,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const url = URL.parse(file.ref as string);
  if (!isAtHost(host, url)) throw new UnreadableFileError("it is elsewhere");
  return await bytesOf(
    requestFile(host!, url, { signal }, maxBytes).then((answer) => {
      const { ok, status, headers } = answer;
      file.isAudio ||= ok && /^audio\//i.test(headers.get("content-type") ?? "");
      if (ok) return answer;
      const reason = `the server answered ${status}`;
      throw status >= 500 || PASSING.includes(status)
        ? new Error(reason)
        : new UnreadableFileError(reason);
    }),
  );
}

/** The last part of an address. */
function fileName(url: URL): string {
  const last = url.pathname.split("/").at(-1) || "file.bin";
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
