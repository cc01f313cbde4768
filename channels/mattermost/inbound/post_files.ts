/**
 * Files of a post, on their way to the service: fetched into the channel's folder, heard where they are
 * voice, and named in words where they cannot be read.
 *
 * @module
 */

import { join } from "@std/path";
import { ServiceError } from "../../../lib/errors.ts";
import { ApiError } from "../api/api_error.ts";
import type { MattermostClient } from "../api/mattermost_client.ts";
import type { Words } from "../words.ts";
import type { PostFile } from "./post.ts";

/** What files are fetched with. */
export interface PostFilesDeps {
  client: Pick<MattermostClient, "fetchFile">;
  /** A folder for this post's files. */
  folder: string;
  /** What is said in an audio file. */
  transcribe: (path: string) => Promise<string>;
  words: Words;
}

/** What became of them. */
export interface FetchedFiles {
  paths: string[];
  /** For the text of the message. */
  heard: string[];
  /** For the one who sent them, and for the text: what was not read. */
  notes: string[];
}

/** What the service takes with a message (`HandledMessage.media`). */
const MAX_FILES = 4;
const MAX_FILE_BYTES = 8 * 1024 * 1024;
const MAX_TOTAL_BYTES = 24 * 1024 * 1024;

const MEGABYTE = 1024 * 1024;

/** Fetches them. Rejects where another time may be better. */
export async function fetchPostFiles(
  files: readonly PostFile[],
  { client, folder, transcribe, words }: PostFilesDeps,
): Promise<FetchedFiles> {
  const fetched: FetchedFiles = { paths: [], heard: [], notes: [] };
  let leftBytes = MAX_TOTAL_BYTES;
  for (const [index, file] of files.entries()) {
    const name = shortName(file.name);
    const maxBytes = Math.min(MAX_FILE_BYTES, leftBytes);
    const tooLarge = (bytes: number) =>
      fetched.notes.push(words("tooLarge", {
        name,
        size: Math.ceil(bytes / MEGABYTE),
        max: Math.floor(maxBytes / MEGABYTE),
      }));
    if (fetched.paths.length >= MAX_FILES) {
      fetched.notes.push(words("tooMany", { name, max: MAX_FILES }));
      continue;
    }
    if (file.size > maxBytes) {
      tooLarge(file.size);
      continue;
    }
    let bytes: Uint8Array<ArrayBuffer> | undefined;
    try {
      bytes = await client.fetchFile(file.id, maxBytes);
    } catch (error) {
      if (!isGone(error)) throw error;
      fetched.notes.push(words("unreadable", { name }));
      continue;
    }
    if (bytes === undefined) {
      tooLarge(file.size || maxBytes + 1);
      continue;
    }
    // Two of the same name lie beside each other.
    const place = join(folder, String(index + 1));
    await Deno.mkdir(place, { recursive: true, mode: 0o700 });
    const path = join(place, safeName(file.name));
    await Deno.writeFile(path, bytes, { mode: 0o600 });
    const isVoice = file.mimeType.startsWith("audio/");
    const said = isVoice ? await voiceWords(path, transcribe) : undefined;
    if (said !== undefined && "text" in said) {
      fetched.heard.push(words("voice", { text: said.text }));
      continue;
    }
    if (said !== undefined) fetched.heard.push(words(said.isOff ? "voiceOff" : "voiceFailed"));
    fetched.paths.push(path);
    leftBytes -= bytes.length;
  }
  return fetched;
}

/** A refusal that stays one. */
function isGone(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return [400, 403, 404, 410].includes(error.status);
}

async function voiceWords(
  path: string,
  transcribe: (path: string) => Promise<string>,
): Promise<{ text: string } | { isOff: boolean }> {
  try {
    const text = (await transcribe(path)).trim();
    return text === "" ? { isOff: false } : { text };
  } catch (error) {
    const code = error instanceof ServiceError ? error.code : (error as { code?: unknown })?.code;
    return { isOff: code === "not_enabled" };
  }
}

function shortName(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}`*_[\]]/gu, "").slice(0, 80) || "file";
}

/** A name that is one in any folder, and in no other. */
function safeName(name: string): string {
  const plain = name.normalize("NFC").replace(/[^\p{L}\p{N}._ -]/gu, "_").replace(/^\.+/, "_")
    .trim();
  return plain.slice(-80).trim() || "file";
}
