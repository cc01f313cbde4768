/**
 * Files that came with a message, out of the place where the server keeps them and no other.
 *
 * @module
 */

import { join } from "@std/path";
import { type FileHost, isAtHost, requestFile } from "./http_client.ts";

/** A file that was fetched, or why not. */
export type Fetched =
  | { kind: "file"; path: string; name: string; isAudio: boolean }
  /** It is elsewhere, or encrypted. */
  | { kind: "elsewhere"; url: string }
  | { kind: "too_large"; name: string }
  | { kind: "failed"; name: string; reason: string };

/** What the service takes of one message. */
export const MAX_FILES = 4;
export const MAX_FILE_BYTES = 8 * 1024 * 1024;

const MAX_NAME_CHARS = 80;

/** Fetches a file into a folder. Never rejects, but where the signal says so. */
export async function fetchFile(
  address: string,
  { host, dir, index, maxBytes, signal }: {
    host: FileHost | undefined;
    dir: string;
    index: number;
    maxBytes: number;
    signal: AbortSignal;
  },
): Promise<Fetched> {
  const url = URL.parse(address);
  if (!isAtHost(host, url)) return { kind: "elsewhere", url: address };
  const name = fileName(url);
  try {
    return await requestFile(host!, url, { signal }, async (response) => {
      const cancel = () => response.body?.cancel().catch(() => {});
      if (!response.ok) {
        await cancel();
        return { kind: "failed", name, reason: `it answered ${response.status}` };
      }
      if (Number(response.headers.get("content-length") ?? 0) > maxBytes) {
        await cancel();
        return { kind: "too_large", name };
      }
      const bytes = await readUpTo(response, maxBytes);
      if (bytes === undefined) return { kind: "too_large", name };
      await Deno.mkdir(dir, { recursive: true, mode: 0o700 });
      const path = join(dir, `${index + 1}-${name}`);
      await Deno.writeFile(path, bytes, { mode: 0o600 });
      const type = response.headers.get("content-type") ?? "";
      return { kind: "file", path, name, isAudio: isAudio(type, name) };
    });
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: "failed", name, reason };
  }
}

/** Undefined for more. */
async function readUpTo(response: Response, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    // Leaving the loop cancels what is left.
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** The last part of an address, without anything that leads elsewhere. */
export function fileName(url: URL): string {
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
