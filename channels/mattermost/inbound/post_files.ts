/**
 * Files of a post, on their way to the service: fetched into the channel's folder, heard where they are
 * voice, and named in words where they cannot be read.
 *
 * @module
 */

import type { TextPart } from "../../../lib/channel/mod.ts";
import {
  hearVoice,
  type InboundFiles,
  MAX_INBOUND_FILES,
  others,
} from "../../../lib/channel/platform/mod.ts";
import { ApiError } from "../api/api_error.ts";
import type { MattermostClient } from "../api/mattermost_client.ts";
import type { Words } from "../words.ts";
import type { PostFile } from "./post.ts";

/** What files are fetched with. */
export interface PostFilesDeps {
  client: Pick<MattermostClient, "fetchFile">;
  /** Where they are put. */
  files: InboundFiles;
  /** Whose words a recording is: a file's, or the sender's where it is all of the message. */
  provenance: "own" | "file";
  /** What is said in an audio file. */
  transcribe: (path: string) => Promise<string>;
  words: Words;
  /** A file could not be had once more: whether its message is to wait for it no longer. */
  isHopeless: (fileId: string) => boolean;
}

/** What is said of them. */
export interface FileWords {
  /** For the text of the message. */
  heard: TextPart[];
  /** For the one who sent them, and for the text: what was not read. */
  notes: string[];
}

const MEGABYTE = 1024 * 1024;

/** Fetches them. Rejects where another time may be better. */
export async function fetchPostFiles(
  listed: readonly PostFile[],
  { client, files, provenance, transcribe, words, isHopeless }: PostFilesDeps,
): Promise<FileWords> {
  const said: FileWords = { heard: [], notes: [] };
  for (const file of listed) {
    const name = shortName(file.name);
    const maxBytes = files.roomBytes;
    const tooLarge = (bytes: number) => {
      const size = Math.ceil(bytes / MEGABYTE);
      said.notes.push(words("tooLarge", { name, size, max: Math.floor(maxBytes / MEGABYTE) }));
    };
    if (files.isFull) {
      said.notes.push(words("tooMany", { name, max: MAX_INBOUND_FILES }));
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
      // Such as one whose place on the server is lost: the chat does not wait for it for ever.
      if (!isGone(error) && !(isBroken(error) && isHopeless(file.id))) throw error;
      said.notes.push(words("unreadable", { name }));
      continue;
    }
    if (bytes === undefined) {
      tooLarge(file.size || maxBytes + 1);
      continue;
    }
    const path = await files.write(file.name, bytes);
    if (!file.mimeType.startsWith("audio/")) continue;
    const voice = await hearVoice(path, transcribe);
    switch (voice.kind) {
      case "text":
        files.leaveOut(path);
        said.heard.push(...others(provenance, words("voice", { text: voice.text }), name));
        break;
      case "off":
        said.heard.push(...others("file", words("voiceOff")));
        break;
      case "failed":
        said.heard.push(...others("file", words("voiceFailed")));
    }
  }
  return said;
}

/** A refusal that stays one. */
function isGone(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return [400, 403, 404, 410].includes(error.status);
}

/** Something of the file itself may be what the server stumbles over. */
function isBroken(error: unknown): boolean {
  return error instanceof ApiError && error.isSent && ![401, 429].includes(error.status);
}

function shortName(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}`*_[\]]/gu, "").slice(0, 80) || "file";
}
