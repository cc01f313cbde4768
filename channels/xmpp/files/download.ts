/**
 * Files that came with a message, out of the place where the server keeps them and no other.
 *
 * @module
 */

import { type InboundFiles, readBounded } from "../../../lib/channel/platform/mod.ts";
import { type FileHost, isAtHost, requestFile } from "./http_client.ts";

/** A file that was fetched, or why not. */
export type Fetched =
  | { kind: "file"; path: string; name: string; isAudio: boolean }
  /** It is elsewhere, or encrypted. */
  | { kind: "elsewhere"; url: string }
  | { kind: "too_large"; name: string }
  | { kind: "failed"; name: string; reason: string };

const MAX_NAME_CHARS = 80;

/** Fetches a file to the others of its message. Never rejects, but where the signal says so. */
export async function fetchFile(
  address: string,
  { host, files, signal }: {
    host: FileHost | undefined;
    files: InboundFiles;
    signal: AbortSignal;
  },
): Promise<Fetched> {
  const url = URL.parse(address);
  if (!isAtHost(host, url)) return { kind: "elsewhere", url: address };
  const name = fileName(url);
  try {
    return await requestFile(host!, url, { signal }, async (response, ending) => {
      if (!response.ok) {
        await response.body?.cancel().catch(() => {});
        return { kind: "failed", name, reason: `it answered ${response.status}` };
      }
      const bytes = await readBounded(response, files.roomBytes, ending);
      if (bytes === undefined) return { kind: "too_large", name };
      const path = await files.write(name, bytes);
      const type = response.headers.get("content-type") ?? "";
      return { kind: "file", path, name, isAudio: isAudio(type, name) };
    });
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: "failed", name, reason };
  }
}

/** The last part of an address, without anything that leads elsewhere. */
function fileName(url: URL): string {
  const last = url.pathname.split("/").at(-1) ?? "";
  let name: string;
  try {
    name = decodeURIComponent(last);
  } catch {
    name = last;
  }
  const plain = name.normalize("NFC").toWellFormed().replace(/[^\p{L}\p{N}._ -]/gu, "_").replace(
    /^[. ]+|[. ]+$/g,
    "",
  );
  if (plain === "") return "file.bin";
  if (plain.length <= MAX_NAME_CHARS) return plain;
  const ending = /\.[A-Za-z0-9]{1,10}$/.exec(plain)?.[0] ?? "";
  return [...plain].slice(0, MAX_NAME_CHARS - ending.length).join("") + ending;
}

function isAudio(type: string, name: string): boolean {
  return type.toLowerCase().startsWith("audio/") ||
    /\.(oga|ogg|opus|m4a|mp3|wav|aac|flac|amr)$/i.test(name);
}
